/** Elements that are drawn for what is in sight, used again for what comes into it. */
import type { Drawn } from './token-picture.ts'

export interface ElementPool<D extends Drawn> {
  /** One for each key; those of keys that are gone are used again. */
  show(keys: readonly number[], paint: (drawn: D, index: number) => void): void
}

export function createElementPool<D extends Drawn>(layer: HTMLElement, make: () => D): ElementPool<D> {
  const used = new Map<number, D>()
  const free: D[] = []
  return {
    show(keys, paint) {
      const wanted = new Set(keys)
      for (const [key, drawn] of used) {
        if (wanted.has(key)) continue
        used.delete(key)
        free.push(drawn)
      }
      for (const [index, key] of keys.entries()) {
        const known = used.get(key)
        const drawn = known ?? free.pop() ?? make()
        if (!known) {
          used.set(key, drawn)
          if (!drawn.element.isConnected) layer.append(drawn.element)
          if (drawn.element.hidden) drawn.element.hidden = false
        }
        paint(drawn, index)
      }
      for (const { element } of free) if (!element.hidden) element.hidden = true
    },
  }
}
