import { describe, expect, test } from 'vitest'
import { SHIPPED_FILES } from '#lib/builtin-server/test-model.ts'
import type { KeyValues } from './key-values.ts'
import type { OnnxModel } from './onnx-model.ts'
import { onnxModel } from './onnx-model.ts'
import { openOnnxSession } from './onnx-session.ts'
import { isPaddingInvariant } from './padding.ts'

const keys = (rows: number, length: number): KeyValues => ({
  rows,
  length,
  tensors: [{ data: new Float32Array(rows * length), dims: [rows, 1, length, 1] }],
})

/** Returns a model whose logits contain the number of positions that its graph counts, by `counts`, and noise. */
const fake = (counts: (length: number, padding: number) => number, noise = 0): OnnxModel => ({
  contextLength: 100,
  empty: keys(1, 0),
  takesPadding: true,
  async forward(rows, past) {
    const length = past.length + (rows[0]?.ids.length ?? 0)
    return {
      logits: rows.map(({ padding }) => [Float32Array.of(0, counts(length, padding) + noise * rows.length, 20)]),
      keyValues: keys(rows.length, length),
    }
  },
})

const attending = (length: number, padding: number): number => length - padding

describe('The check of padding', () => {
  test('succeeds for a model that respects padding up to rounding', async () => {
    expect(await isPaddingInvariant(fake(attending, 1e-5))).toBe(true)
  })

  test('fails for a model that counts padding as text', async () => {
    expect(await isPaddingInvariant(fake((length) => length))).toBe(false)
  })

  test('fails for a model whose rows affect each other', async () => {
    expect(await isPaddingInvariant(fake(attending, 1e-2))).toBe(false)
  })

  test('fails for a graph without an input for padding', async () => {
    expect(await isPaddingInvariant({ ...fake(attending), takesPadding: false })).toBe(false)
  })

  test('succeeds for the shipped model', async () => {
    const { session, graph } = await openOnnxSession(SHIPPED_FILES)
    expect(await isPaddingInvariant(onnxModel(session, graph))).toBe(true)
    await session.release()
  })
})
