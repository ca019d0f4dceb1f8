/**
 * Determines whether rows of different lengths may share a pass. A graph with inputs for a mask and positions may still ignore them:
 * GroupQueryAttention counts from the left, and weights that are quantized at run time mix the rows. No name in a graph reveals that, so it
 * is measured.
 */

import { float32At } from '#lib/util/element-at.ts'
import { gatherRows, type KeyValues } from './key-values.ts'
import type { OnnxModel } from './onnx-model.ts'

/** Largest difference as a fraction of the spread of the logits: rounding in another order causes 1e-6 of it, an ignored mask 1e-2. */
const TOLERANCE = 2e-5

/** Returns whether a row of three tokens decodes alone as it does beside a row of seven. */
export async function isPaddingInvariant(model: OnnxModel): Promise<boolean> {
  if (!model.takesPadding) return false
  const prompt = async (ids: readonly number[]): Promise<KeyValues> =>
    (await model.forward([{ ids, padding: 0 }], model.empty, 'last')).keyValues
  const [short, long] = [await prompt([1, 2, 3]), await prompt([3, 1, 2, 0, 1, 3, 2])]
  const single = await model.forward([{ ids: [2], padding: 0 }], short, 'last')
  const batch = gatherRows([long, short].map((keyValues) => ({ keyValues, row: 0, length: keyValues.length })))
  const rows = [
    { ids: [1], padding: 0 },
    { ids: [2], padding: long.length - short.length },
  ]
  const batched = await model.forward(rows, batch, 'last')
  const [wanted, found] = [single.logits[0]?.[0] as Float32Array, batched.logits[1]?.[0] as Float32Array]
  const spread = extreme(wanted, Math.max) - extreme(wanted, Math.min)
  return wanted.every((logit, id) => Math.abs(logit - float32At(found, id)) <= TOLERANCE * spread)
}

const extreme = (values: Float32Array, pick: (a: number, b: number) => number): number =>
  values.reduce((a, b) => pick(a, b))
