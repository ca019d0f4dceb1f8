/** Stores one record of a file in the library, so that it has an address. */
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { fileRecords } from '../workers/records.ts'
import { FileError } from './file-error.ts'
import { importFile } from './opened-file.ts'

/**
 * Stores a record and returns its key. `record` counts from 1; `tokenizer` restores texts of plain ids. An equal trajectory is not stored
 * twice. Throws FileError, ApiError, or the signal's reason.
 */
export async function storeRecord(
  { file, record, tokenizer }: { readonly file: File; readonly record: number; readonly tokenizer: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  let number = 0
  for await (const one of fileRecords(file, signal)) {
    if (++number < record) continue
    if (!one.ok) throw new FileError(one.message, one.hint)
    const singleFile = new File([JSON.stringify(unpack(one.trajectory))], file.name)
    const { trajectories } = await importFile(singleFile, {
      tokenizer: lacksTexts(one.trajectory) ? tokenizer : undefined,
      signal,
    })
    return trajectories[0]
  }
  throw new FileError(
    `${file.name} no longer has a record ${record}.`,
    'The file was changed after it was read: choose it again.',
  )
}
