import { setTimeout as passed } from 'node:timers/promises'
import { Agent } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { scripted } from '#testing/sglang/recordings.ts'
import { exchange } from './exchange.ts'

const LIMITS = { firstByteMs: 5_000, idleMs: 5_000, bytes: 1 << 30, wholeBytes: 1 << 28 }

async function asked(handler: Parameters<typeof scripted>[0], over = () => {}) {
  const server = await scripted(handler)
  const dispatcher = new Agent()
  onTestFinished(() => server.close())
  onTestFinished(() => dispatcher.destroy())
  return exchange(dispatcher, { origin: server.baseUrl, path: '/', method: 'GET' }, over)
}

test('a slow reader pauses the sender and is not reported as a stalled server', async () => {
  const part = Buffer.alloc(1 << 20)
  const total = 64
  let written = 0
  const { head, body } = await asked((_request, response) => {
    const write = () => {
      while (written < total) {
        written++
        if (!response.write(part)) {
          response.once('drain', write)
          return
        }
      }
      response.end()
    }
    write()
  })
  await head
  let received = (await body({ ...LIMITS, idleMs: 20 }).next())?.byteLength ?? 0
  await passed(200)
  expect(written).toBeLessThan(total / 2)
  for (const rest of await body(LIMITS).rest()) received += rest.byteLength
  expect(received).toBe(total * part.length)
})

test('an exchange ends once, whole or failed, and everyone who waits is notified', async () => {
  let overs = 0
  const count = () => {
    overs++
  }
  const whole = await asked((_request, response) => response.end('ab'), count)
  expect((await whole.head).status).toBe(200)
  expect(Buffer.concat(await whole.body(LIMITS).rest()).toString()).toBe('ab')
  whole.fail(new Error('late'))
  expect(overs).toBe(1)
  expect(await whole.body(LIMITS).next()).toBeUndefined()

  const cut = await asked((_request, response) => {
    response.write('a')
  }, count)
  await cut.head
  const parts = cut.body(LIMITS)
  expect(String(await parts.next())).toBe('a')
  const waiting = parts.next()
  cut.fail('no more')
  await expect(waiting).rejects.toBe('no more')
  await expect(parts.rest()).rejects.toBe('no more')
  expect(overs).toBe(2)
})

test('an exchange that fails before it is sent closes its connection', async () => {
  let arrived = 0
  const early = await asked(() => {
    arrived++
  })
  early.fail(new Error('gone'))
  await expect(early.head).rejects.toThrow('gone')
  await passed(50)
  expect(arrived).toBe(0)
})
