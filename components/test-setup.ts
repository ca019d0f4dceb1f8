import { cleanup, configure } from '@testing-library/react'
import { afterAll, afterEach } from 'vitest'

// What a component shows at last is waited for until the test itself takes too long: the processor may be another's for seconds.
configure({ asyncUtilTimeout: 90_000 })

// jsdom has dialogs, and nothing that opens or closes them.
HTMLDialogElement.prototype.showModal = function () {
  this.open = true
}
HTMLDialogElement.prototype.close = function () {
  this.open = false
  this.dispatchEvent(new Event('close'))
}

// jsdom lays nothing out, has no fonts, and reports every canvas as not implemented. An observer reports the first size, as in a browser.
globalThis.ResizeObserver ??= class {
  readonly #onResize: ResizeObserverCallback
  constructor(onResize: ResizeObserverCallback) {
    this.#onResize = onResize
  }
  observe() {
    this.#onResize([], this)
  }
  unobserve() {}
  disconnect() {}
}

// One interval of jsdom serves all animation frames. Requested while timers are fake, it never runs again, also for the files that follow.
globalThis.requestAnimationFrame = (draw) => Number(setTimeout(() => draw(performance.now()), 16))
globalThis.cancelAnimationFrame = (frame) => clearTimeout(frame)

// Nothing can be scrolled there.
Element.prototype.scrollIntoView ??= () => {}

// jsdom has no media queries. Its window is wide and light.
window.matchMedia ??= (media) =>
  Object.assign(new EventTarget(), { media, matches: false, onchange: null, addListener() {}, removeListener() {} })

afterEach(cleanup)

// The next file uses the same jsdom.
afterAll(() => {
  // jsdom has none; files that measure texts define it.
  Reflect.deleteProperty(document, 'fonts')
  localStorage.clear()
  sessionStorage.clear()
  document.body.replaceChildren()
  history.replaceState(null, '', '/')
})
