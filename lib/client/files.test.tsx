import { afterEach, expect, test, vi } from 'vitest'
import { ApiError } from './api.ts'
import { severalExportChoices } from './files.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a file of several that breaks off half-way is told, and not saved', async () => {
  vi.stubGlobal(
    'fetch',
    async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{}\n'))
            controller.error(new TypeError('terminated'))
          },
        }),
      ),
  )
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click')
  const told = await new Promise((resolve) => {
    severalExportChoices(['a', 'b'], resolve).then(([first]) => first?.save())
  })
  expect(told).toBeInstanceOf(ApiError)
  expect(told).toMatchObject({ code: 'CUT_REPLY' })
  expect(saved).not.toHaveBeenCalled()
})
