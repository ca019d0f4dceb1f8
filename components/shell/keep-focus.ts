/**
 * Gives the keyboard focus another place when the element that has it is removed: a button that deletes its own row, or a link to another
 * page.
 */

import { CONTENT_ID } from './pages.ts'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]'

/** Where an element was removed: everything that followed it follows `before`, or is in `parent` if nothing was before it. */
interface Gap {
  readonly parent: Element
  readonly before: Node | null
}

/**
 * Follows the focus until `ended`: an element that is removed with the focus in it leaves it to the control after it, or else before it.
 * With its page, it leaves it to the content of the next one.
 */
export function keepFocus(ended: AbortSignal): void {
  let focused: Element | null = null
  let path = ''
  const observer = new MutationObserver((records) => {
    if (focused === null || focused.isConnected || document.activeElement !== document.body) return
    const gap = location.pathname === path && !focused.matches('main') ? gapOf(records, focused) : 'page'
    // The grids of tokens that replace each other pass the focus on themselves.
    if (gap === undefined || (gap !== 'page' && focused.matches('[role=grid]'))) return
    focused = null
    // Parts that know a better place move the focus in the next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) (gap === 'page' ? contentOfPage() : controlAt(gap))?.focus()
      }),
    )
  })
  const follow = () => {
    const { activeElement } = document
    observer.disconnect()
    // A focus that a click or a touch has set is not seen. Moving it to a field would open the keyboard of a phone.
    const isFollowed = activeElement?.matches(':focus-visible') === true
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

/** Returns where the element was removed; undefined if what was around it is gone too. */
function gapOf(records: readonly MutationRecord[], removed: Element): Gap | undefined {
  for (const { target, previousSibling, removedNodes } of records) {
    if (!(target instanceof Element) || !target.isConnected) continue
    // A dialog returns the focus itself.
    if (Array.from(removedNodes).some((node) => node.contains(removed) && !node.contains(removed.closest('dialog'))))
      return { parent: target, before: previousSibling?.isConnected ? previousSibling : null }
  }
  return undefined
}

/**
 * Returns the main part of the page, which a screen reader announces and from which the Tab key leads to the first control. While the
 * page is loaded, it returns the place before it.
 */
function contentOfPage(): HTMLElement | null {
  const main = document.querySelector('main')
  if (!main) return document.getElementById(CONTENT_ID)
  main.tabIndex = -1
  // A click beside the controls would otherwise move the focus to it.
  main.addEventListener('blur', () => main.removeAttribute('tabindex'), { once: true })
  return main
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
