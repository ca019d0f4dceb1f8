/**
 * Spans of OpenTelemetry in OTLP’s JSON, with typed values, and as its SDK for Python prints them (`span.to_json()`), with plain values.
 * Phoenix returns them so too, or as rows of a data frame.
 */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import type { SpanEvent } from './gen-ai.ts'

/** A span with plain values, whichever form it had. */
export interface TraceSpan {
  readonly traceId: unknown
  readonly spanId: unknown
  readonly parentSpanId: unknown
  readonly name: unknown
  /** Nanoseconds since 1970, as a number or as a text. */
  readonly startTime: unknown
  readonly endTime: unknown
  readonly attributes: JsonObject
  readonly events: readonly SpanEvent[]
}

/** Returns whether a value has spans, or is one. */
export const hasSpans = (value: unknown): boolean =>
  isObject(value) && (Array.isArray(value.resourceSpans) || isPrinted(value) || isRow(value))

/** Returns the spans of a value. */
export function spansIn(record: unknown): readonly TraceSpan[] {
  if (isPrinted(record)) return [printedSpan(record)]
  if (isRow(record)) return [printedSpan(spanOfRow(record))]
  return listIn(record, 'resourceSpans')
    .flatMap((resource) => listIn(resource, 'scopeSpans'))
    .flatMap((scope) => listIn(scope, 'spans'))
    .map(exportedSpan)
}

const listIn = (value: unknown, key: string): readonly JsonObject[] => (isObject(value) ? objectsIn(value[key]) : [])

function exportedSpan(span: JsonObject): TraceSpan {
  const { traceId, spanId, parentSpanId, name, startTimeUnixNano: startTime, endTimeUnixNano: endTime } = span
  const events = listIn(span, 'events').map(({ name, attributes }) => ({
    name,
    attributes: plainAttributes(attributes),
  }))
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    startTime,
    endTime,
    attributes: plainAttributes(span.attributes),
    events,
  }
}

/** Returns attributes by name, with their values in place of OTLP's typed values. */
function plainAttributes(list: unknown): JsonObject {
  const entries = objectsIn(list)
  return Object.fromEntries(entries.map(({ key, value }) => [String(key), plainValue(value)]))
}

function plainValue(value: unknown): unknown {
  if (!isObject(value)) return undefined
  if (isObject(value.arrayValue)) return listIn(value.arrayValue, 'values').map(plainValue)
  if (isObject(value.kvlistValue)) return plainAttributes(value.kvlistValue.values)
  if (value.intValue !== undefined) return Number(value.intValue)
  return value.stringValue ?? value.doubleValue ?? value.boolValue
}

interface PrintedSpan extends JsonObject {
  readonly context: JsonObject
  readonly attributes: JsonObject
}

const isPrinted = (value: unknown): value is PrintedSpan =>
  isObject(value) && isObject(value.context) && typeof value.context.trace_id === 'string' && isObject(value.attributes)

function printedSpan(span: PrintedSpan): TraceSpan {
  const { context, name, parent_id, span_kind, start_time, end_time, attributes, events } = span
  return {
    traceId: context.trace_id,
    spanId: context.span_id,
    parentSpanId: parent_id,
    name,
    startTime: nanoseconds(start_time),
    endTime: nanoseconds(end_time),
    // Phoenix has this attribute beside the others.
    attributes: span_kind === undefined ? attributes : { 'openinference.span.kind': span_kind, ...attributes },
    events: objectsIn(events).map(({ name, attributes }) => ({
      name,
      attributes: isObject(attributes) ? attributes : {},
    })),
  }
}

/** Pandas writes times as milliseconds since 1970. */
function nanoseconds(time: unknown): unknown {
  if (typeof time === 'number') return time * 1e6
  return typeof time === 'string' ? Date.parse(time) * 1e6 : undefined
}

const isRow = (value: unknown): value is JsonObject => isObject(value) && typeof value['context.trace_id'] === 'string'

/** Returns the span of a row, whose columns are the paths of its values. Columns of other spans are null. */
function spanOfRow(row: JsonObject): PrintedSpan {
  const under = (prefix: string) =>
    Object.entries(row).flatMap(([key, value]) =>
      key.startsWith(prefix) ? attributesIn(key.slice(prefix.length), value) : [],
    )
  return {
    ...row,
    context: Object.fromEntries(under('context.')),
    attributes: Object.fromEntries(under('attributes.')),
  }
}

/** A list of objects is an attribute for each of their values, as in a span. */
function attributesIn(key: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (value === null) return []
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) return [[key, value]]
  return value.flatMap((item, index) =>
    Object.entries(item).flatMap(([inner, one]) => attributesIn(`${key}.${index}.${inner}`, one)),
  )
}
