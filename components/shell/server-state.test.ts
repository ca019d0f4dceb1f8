import { expect, test } from 'vitest'
import { serverTitle, stateText, statusText } from './server-state.tsx'

const download = { kind: 'model', name: 'org/name', file: 'onnx/model_q4.onnx' } as const

test.each([
  [{ bytes: 0, total: 9_587 }, 'downloading the model: 0.0 of 0.0 MB'],
  [{ bytes: 3_140_000, total: 912_000_000 }, 'downloading the model: 3.1 of 912 MB'],
])('the status of a server that downloads its model states the progress', (progress, text) => {
  const status = { state: 'starting', download: { ...download, ...progress } } as const
  expect([statusText(status), stateText(status)]).toEqual([text, 'starting…'])
})

test('a server that starts without further details is reported as starting', () => {
  expect(statusText({ state: 'starting' })).toBe('the server is starting…')
})

test('the tooltip of the built-in server says that it is not a server of the user, and how to choose one', () => {
  const builtIn = {
    name: 'built-in',
    baseUrl: 'http://127.0.0.1:3000/sglang',
    source: 'built-in',
    hasKey: false,
  } as const
  const title = serverTitle(builtIn, { state: 'asking' })
  expect(title).toContain('not a server of yours')
  expect(title).toContain('SGLANG_BASE_URL')
  const saved = { ...builtIn, name: 'mine', baseUrl: 'http://gpu:30000', source: 'saved' } as const
  expect(serverTitle(saved, { state: 'asking' })).toBe(
    'The server mine at http://gpu:30000, which runs use. Status: contacting the server…',
  )
  expect(serverTitle(undefined, { state: 'asking' })).toBe('Status: contacting the server…')
})
