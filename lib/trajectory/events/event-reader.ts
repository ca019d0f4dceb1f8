/**
 * Validates events by their schema, several times as fast (see parse-trajectory.ts): obviously valid columns are removed
 * before the schema runs. A valid value is returned itself, not as a copy.
 */
import type * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import { withoutAllColumns, withoutColumns } from '../format/parse-trajectory.ts'
import { type RolloutEvent, rolloutEventSchema } from './event-schema.ts'

/** Checks values with the results and errors of a schema. */
export interface SchemaReader<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: z.core.$ZodError }
}

/**
 * Returns a reader that is faster than its schema. `withoutColumns` returns the value that the schema checks in place of the
 * given one.
 */
export const readerOf = <T>(schema: z.ZodMiniType, withoutColumns: (value: unknown) => unknown): SchemaReader<T> => ({
  safeParse(value) {
    const parsed = schema.safeParse(withoutColumns(value))
    return parsed.success ? { success: true, data: value as T } : parsed
  },
})

/** Returns an event whose obviously valid columns are empty. */
export function withoutEventColumns(event: unknown): unknown {
  if (!isObject(event)) return event
  const { type, trajectory, segment } = event
  if (type === 'tokens') return withoutColumns(event)
  return {
    ...event,
    ...(isObject(trajectory) && { trajectory: withoutAllColumns(trajectory) }),
    ...(isObject(segment) && { segment: withoutColumns(segment) }),
  }
}

/** Reads the events of a rollout. */
export const eventReader: SchemaReader<RolloutEvent> = readerOf(rolloutEventSchema, withoutEventColumns)
