/** The trajectory's file as an export writes it. */
import { encode } from '#lib/core/codec.ts'
import { fileName } from '#lib/core/file.ts'
import { unpack } from '#lib/core/packed.ts'
import type { InspectTask } from '../task.ts'
import { type TextLines, textLines } from './text-lines.ts'

export interface RawText extends TextLines {
  readonly fileName: string
}

export const rawText = function* (_request, trajectory) {
  yield 'writing'
  const record = unpack(trajectory)
  const text = encode(record)
  yield 'written'
  return { ...textLines(text), fileName: fileName(record, 'rollscope') }
} satisfies InspectTask<null, 'writing' | 'written', RawText>
