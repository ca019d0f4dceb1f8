/**
 * Converts positions in a sorted list to text for addresses. The text is opaque to callers and valid only for the order that it was made
 * for.
 */
import * as z from 'zod'
import type { ListSort } from '#lib/api/library.ts'
import type { Cursor } from '#lib/store/listing/listing.ts'
import { HttpProblem } from './problem.ts'

const cursorSchema = z.tuple([
  z.string(),
  z.string(),
  z.enum(['before', 'after']),
  z.union([z.string(), z.number(), z.null()]),
  z.int(),
])

/** Returns the text of a position. */
export const cursorText = ({ side, value, sequence }: Cursor, { by, order }: ListSort): string =>
  Buffer.from(JSON.stringify([by, order, side, value, sequence])).toString('base64url')

/** Returns the position that a text describes. Throws HttpProblem if the text is invalid or belongs to another order. */
export function readCursor(text: string, sort: ListSort): Cursor {
  const refuse = (detail: string): never => {
    throw new HttpProblem({
      status: 400,
      code: 'BAD_CURSOR',
      detail,
      hint: 'Use `next` or `previous` of an answer with the same sort and order, or omit the cursor.',
    })
  }
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    refuse('"cursor" was not created by this server')
  }
  const parsed = cursorSchema.safeParse(value)
  if (!parsed.success) return refuse('"cursor" was not created by this server')
  const [by, order, side, sortValue, sequence] = parsed.data
  if (by !== sort.by || order !== sort.order)
    return refuse(`"cursor" belongs to a list sorted by ${by} ${order}, not by ${sort.by} ${sort.order}`)
  return { side, value: sortValue, sequence }
}
