import { expect, test } from 'vitest'
import { stateText, statusText } from './server-state.tsx'

const download = { kind: 'model', name: 'org/name', file: 'onnx/model_q4.onnx' } as const

test.each([
  [{ bytes: 0, total: 9_587 }, 'downloading the model: 0.0 of 0.0 MB'],
  [{ bytes: 3_140_000, total: 912_000_000 }, 'downloading the model: 3.1 of 912 MB'],
])('a server that waits for its model says how far it is', (progress, text) => {
  const status = { state: 'starting', download: { ...download, ...progress } } as const
  expect([statusText(status), stateText(status)]).toEqual([text, 'starting …'])
})

test('a server that starts without telling more is starting', () => {
  expect(statusText({ state: 'starting' })).toBe('the server is starting …')
})
