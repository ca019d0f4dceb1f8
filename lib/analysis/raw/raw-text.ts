/** Computes the raw view: the trajectory's file as Export writes it. */
import { encode } from '#lib/trajectory/format/codec.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { type TextLines, textLines } from '#lib/util/text/text-lines.ts'
import type { InspectTask } from '../trajectory-task.ts'

/** The file as lines, and its name. */
export interface RawText extends TextLines {
  readonly fileName: string
}

/** Task that encodes the trajectory as its file and splits it into lines. */
export const rawText = function* (_request, trajectory) {
  yield 'writing'
  const record = unpack(trajectory)
  const text = encode(record)
  yield 'written'
  return { ...textLines(text), fileName: fileName(record, 'rollscope') }
} satisfies InspectTask<null, 'writing' | 'written', RawText>
