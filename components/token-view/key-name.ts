/** Names of keys in the key tables: `j`, `J`, `[`, `Shift+ArrowDown`, `Mod+k` (Ctrl; ⌘ on a Mac). */

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/**
 * Returns the name of a pressed key. If the key types a letter, its case implies Shift. A punctuation sign is recognized
 * whichever modifiers the keyboard layout needs for it.
 */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  // On a German keyboard `[` is AltGr+8, which browsers report as Ctrl+Alt.
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

/** Returns the label of a key: `Mod+k` is `⌘K` on a Mac and `Ctrl K` elsewhere. */
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
