/** What the token view needs and jsdom lacks, for tests. */
import { vi } from 'vitest'

/**
 * Defines fonts, which test-setup.ts removes after the file, and a canvas that measures nothing. With a height and a width in pixels, every
 * element has this size.
 */
export function defineLayout(size?: { readonly height: number; readonly width: number }): void {
  Object.defineProperty(document, 'fonts', {
    configurable: true,
    value: Object.assign(new EventTarget(), { ready: Promise.resolve() }),
  })
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  if (!size) return
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(size.height)
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(size.width)
}
