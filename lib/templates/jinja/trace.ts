/** Follows messages and pieces through a render: the message of the running loop, and the messages that expressions read. */

import type { Namespace } from './builtins/globals.ts'
import { PyDict, type Value } from './python/values.ts'
import type { RenderedPiece } from './rendering.ts'
import {
  mergeMessageIndex,
  NONE,
  Pieces,
  Traced,
  type VariableValue,
  valueText,
  withMessageIndex,
} from './source-map.ts'

/** State of the source map during one render. */
export class Trace {
  pieces = new Pieces()
  /** Message of the innermost loop over messages that runs; NONE outside of such loops. */
  message = NONE
  /** Message of the dicts that the running expression has read; NONE or SEVERAL if it is not one. */
  read = NONE
  private loops = 0
  private readonly indexes: ReadonlyMap<Value, number>
  private readonly attributes = new Map<Namespace, Map<string, Traced>>()

  constructor(messages: Value | undefined) {
    this.indexes = new Map(Array.isArray(messages) ? messages.map((message, index) => [message, index]) : [])
  }

  get list(): readonly RenderedPiece[] {
    return this.pieces.list
  }

  /** Enters a loop and returns the message that it runs within, for `turn` and `endLoop`. */
  beginLoop(): number {
    this.loops += 1
    return this.message
  }

  turn(item: Value, around: number): void {
    this.message = this.indexOf(item) ?? around
  }

  endLoop(around: number): void {
    this.loops -= 1
    this.message = around
  }

  /** Makes a message that is read by index the message of the iteration, if the loop iterates over something else. */
  meets(value: VariableValue): void {
    if (this.loops > 0 && this.message === NONE) this.message = this.indexOf(value) ?? NONE
  }

  literal(length: number, line: number): void {
    this.pieces.literal(length, line, this.message)
  }

  reads(value: Value): void {
    const index = this.indexOf(value)
    if (index !== undefined) this.read = mergeMessageIndex(this.read, index)
  }

  readAlso(message: number): void {
    this.read = mergeMessageIndex(this.read, message)
  }

  /** Returns an operand of a concatenation as a traced text; undefined if its value is not text. */
  operand(value: Value | Traced): Traced | undefined {
    if (value instanceof Traced) return value
    return typeof value === 'string' ? valueText(value, this.messageOfRead()) : undefined
  }

  /** Returns a text that is about to be stored, with the message that its expression has read. */
  kept(value: Value | Traced): Value | Traced {
    if (value instanceof Traced)
      return this.message === NONE ? withMessageIndex(value, mergeMessageIndex(value.message, this.read)) : value
    const message = this.messageOfRead()
    return typeof value === 'string' && message >= 0 ? valueText(value, message) : value
  }

  keepAttribute(namespace: Namespace, name: string, value: Value | Traced): void {
    const attributes = this.attributes.get(namespace) ?? new Map<string, Traced>()
    this.attributes.set(namespace, attributes)
    if (value instanceof Traced) attributes.set(name, value)
    else attributes.delete(name)
  }

  attribute(object: Value, name: string, value: Value): Value | Traced {
    const known = this.attributes.get(object as Namespace)?.get(name)
    return known && known.text === value ? known : value
  }

  write(traced: Traced, line: number): void {
    const message = this.message === NONE ? mergeMessageIndex(traced.message, this.read) : this.message
    this.pieces.write(traced, line, message)
  }

  private messageOfRead(): number {
    return this.message === NONE ? this.read : this.message
  }

  private indexOf(value: VariableValue): number | undefined {
    return value instanceof PyDict ? this.indexes.get(value) : undefined
  }
}
