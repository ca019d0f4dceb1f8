/**
 * Spans of OpenTelemetry in OTLP’s JSON, with typed values, and as its SDK for Python prints them (`span.to_json()`), with plain values.
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
  isObject(value) && (Array.isArray(value.resourceSpans) || isPrinted(value))

/** Returns the spans of a value. */
export function spansIn(record: unknown): readonly TraceSpan[] {
  if (isPrinted(record)) return [printedSpan(record)]
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

function printedSpan({ context, name, parent_id, start_time, end_time, attributes, events }: PrintedSpan): TraceSpan {
  return {
    traceId: context.trace_id,
    spanId: context.span_id,
    parentSpanId: parent_id,
    name,
    startTime: nanoseconds(start_time),
    endTime: nanoseconds(end_time),
    attributes,
    events: objectsIn(events).map(({ name, attributes }) => ({
      name,
      attributes: isObject(attributes) ? attributes : {},
    })),
  }
}

const nanoseconds = (time: unknown): unknown => (typeof time === 'string' ? Date.parse(time) * 1e6 : undefined)
