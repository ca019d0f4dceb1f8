/** Rollscope's own format: everything, in both directions. */

import { decodeValue, recordOf } from '#lib/core/codec.ts'
import { isObject } from '#lib/core/json-object.ts'
import type { Format } from './format.ts'

export const rollscope: Format = {
  name: 'rollscope',
  label: 'Rollscope',
  keeps: 'Everything. Opens here again as it is, with no tokenizer.',
  sniff: (value) => isObject(value) && typeof value.format === 'string' && value.format.startsWith('rollscope.'),
  read: decodeValue,
  write: (trajectory) => ({ value: recordOf(trajectory), lost: [] }),
}
