/** Gives the keyboard focus another place when the element that has it is removed, such as a button that deletes its own row. */

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]'

/** Where an element was removed: everything that followed it follows `before`, or is in `parent` if nothing was before it. */
interface Gap {
  readonly parent: Element
  readonly before: Node | null
}

/** Follows the focus until `ended`: an element that is removed with the focus in it leaves it to the control after it, or else before it. */
export function keepFocus(ended: AbortSignal): void {
  let focused: Element | null = null
  let path = ''
  const observer = new MutationObserver((records) => {
    const { parent, before } = gapOf(records, focused) ?? {}
    // Another page has places of its own for the focus.
    if (!parent || document.activeElement !== document.body || location.pathname !== path) return
    focused = null
    // Parts that know a better place move the focus in the next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) controlAt({ parent, before: before ?? null })?.focus()
      }),
    )
  })
  const follow = () => {
    const { activeElement } = document
    observer.disconnect()
    // A focus that a click or a touch has set is not seen. Moving it to a field would open the keyboard of a phone.
    const isFollowed = activeElement?.matches(':focus-visible:not([role=grid])') === true
    focused = isFollowed ? activeElement : null
    path = location.pathname
    if (isFollowed) observer.observe(document.body, { childList: true, subtree: true })
  }
  const leave = ({ target, relatedTarget }: FocusEvent) => {
    // Browsers that report the removal do so before it.
    queueMicrotask(() => {
      if (relatedTarget === null && target instanceof Element && target.isConnected) observer.disconnect()
    })
  }
  document.addEventListener('focusin', follow, { signal: ended })
  document.addEventListener('focusout', leave, { signal: ended })
  ended.addEventListener('abort', () => observer.disconnect())
  follow()
}

/** Returns where the element was removed; undefined if it was not, or if what was around it is gone too. */
function gapOf(records: readonly MutationRecord[], removed: Element | null): Gap | undefined {
  if (removed === null || removed.isConnected) return undefined
  for (const { target, previousSibling, removedNodes } of records) {
    if (!(target instanceof Element) || !target.isConnected) continue
    // A dialog returns the focus itself.
    if (Array.from(removedNodes).some((node) => node.contains(removed) && !node.contains(removed.closest('dialog'))))
      return { parent: target, before: previousSibling?.isConnected ? previousSibling : null }
  }
  return undefined
}

/** Returns the control that follows the gap, or else precedes it, within the smallest part that has one; undefined outside of all parts. */
function controlAt({ parent, before }: Gap): HTMLElement | undefined {
  for (let part: Element | null = parent; part && part !== document.body; part = part.parentElement) {
    const controls = Array.from(part.querySelectorAll<HTMLElement>(CONTROLS)).filter(isUsable)
    const follows = (control: Element) => {
      const position = (before ?? parent).compareDocumentPosition(control)
      const isInside = (position & Node.DOCUMENT_POSITION_CONTAINED_BY) !== 0
      return (position & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 && (before === null || !isInside)
    }
    const control = controls.find(follows) ?? controls.at(-1)
    if (control) return control
    if (part instanceof HTMLElement && part.hasAttribute('tabindex')) return part
  }
  return undefined
}

const isUsable = (control: HTMLElement): boolean =>
  control.tabIndex >= 0 &&
  !control.matches(':disabled, [inert] *') &&
  control.checkVisibility({ visibilityProperty: true })
