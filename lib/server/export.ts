/** Several trajectories as one file, a line each, in the order asked for. */
import * as z from 'zod'
import { severalFileName } from '#lib/core/file.ts'
import { type WritableFormat, writableFormats } from '#lib/formats/registry.ts'
import { ndjson } from './ndjson.ts'
import type { Services } from './services.ts'
import { noTrajectory, storedTrajectory, writableFormatNamed } from './trajectories.ts'

const MOST_KEYS = 10_000

export const exportRequestSchema = z.strictObject({
  keys: z
    .array(z.string())
    .min(1)
    .max(MOST_KEYS)
    .refine((keys) => new Set(keys).size === keys.length, { message: 'keys that differ' })
    .describe('Of stored trajectories; the lines come in this order.'),
  format: z
    .string()
    .exactOptional()
    .describe(`One of ${writableFormats.map(({ name }) => name).join(', ')}. rollscope unless given.`),
})

/** One is read when the line before it has been taken: hundreds are never held at once. Throws Problem. */
export function exportSeveral(
  { keys, format = 'rollscope' }: z.infer<typeof exportRequestSchema>,
  all: Services,
): Response {
  const { write } = writableFormatNamed(format)
  const missing = keys.find((key) => !all.store.has(key))
  if (missing !== undefined) throw noTrajectory(missing, all.store)
  return ndjson(written(keys, write, all), {
    'content-disposition': `attachment; filename="${severalFileName(keys.length, format)}"`,
  })
}

async function* written(
  keys: readonly string[],
  write: WritableFormat['write'],
  all: Services,
): AsyncGenerator<unknown> {
  for (const key of keys) yield write(storedTrajectory(key, all)).value
}
