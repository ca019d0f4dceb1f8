/** Keys as key tables write them: `j`, `J`, `[`, `Shift+ArrowDown`, `Mod+k` (Ctrl, on a Mac ⌘). */

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** Shift is told by the letter itself where a key writes one. Signs are taken however a keyboard writes them. */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  // `[` is AltGr 8 on a German keyboard, which browsers report as Ctrl and Alt held.
  if (isSign(key) && !metaKey && ctrlKey === altKey) return key
  if (isSign(key) && altKey && !ctrlKey && !metaKey) return key
  const isMod = ctrlKey || metaKey
  const name = isMod && key.length === 1 ? key.toLowerCase() : key
  return `${isMod ? 'Mod+' : ''}${altKey ? 'Alt+' : ''}${shiftKey && (isMod || key.length > 1) ? 'Shift+' : ''}${name}`
}

const isSign = (key: string): boolean => /^[^\p{L}\p{N}\s]$/u.test(key)

const SIGNS: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  PageUp: 'Page ↑',
  PageDown: 'Page ↓',
  Enter: '↵',
}

/** As a reader sees it: `Mod+k` is `⌘K` on a Mac and `Ctrl K` elsewhere. */
export function keyLabel(name: string, isMac: boolean): string {
  const parts = name === '+' ? [name] : name.split('+')
  return parts
    .map((part, index) => {
      if (part === 'Mod') return isMac ? '⌘' : 'Ctrl '
      if (part === 'Shift') return isMac ? '⇧' : 'Shift '
      if (part === 'Alt') return isMac ? '⌥' : 'Alt '
      return SIGNS[part] ?? (index > 0 && part.length === 1 ? part.toUpperCase() : part)
    })
    .join('')
}
