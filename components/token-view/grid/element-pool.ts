/** A pool of elements for the visible part of a long list: elements that leave the view are used again. */
import type { PooledElement } from './token-picture.ts'

/** Elements of a layer, at most one for each visible key. */
export interface ElementPool<D extends PooledElement> {
  /** Paints one element for each key; elements of keys that are gone are used again, and spare ones are hidden. */
  show(keys: readonly number[], paint: (drawn: D, index: number) => void): void
}

/** Returns an empty pool. `make` creates an element when none is free; the pool appends it to the layer. */
export function createElementPool<D extends PooledElement>(layer: HTMLElement, make: () => D): ElementPool<D> {
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
