/**
 * Where text comes from while a template is traced: every text that the template composes carries the pieces it consists of. A
 * concatenation takes the same time however long its parts are; the pieces are laid out when the text is written.
 */
import type { Value } from './python/values.ts'
import type { RenderedPiece } from './rendering.ts'

/** Message index for text without a message. SEVERAL is the index for text of more than one message. */
export const NONE = -1
const SEVERAL = -2

/** Line of a piece that has the line of the expression which writes it. */
const WRITTEN_HERE = 0

/**
 * Most pieces of a text: ten times what a template writes for a conversation of 200,000 tokens. Beyond it the rest of a text is one piece.
 */
const MOST_PIECES = 200_000

interface Leaf {
  readonly kind: 'leaf'
  readonly line: number
  readonly message: number
  readonly source: RenderedPiece['source']
}

type Tree =
  | Leaf
  | { readonly kind: 'both'; readonly first: Traced; readonly second: Traced }
  /** Pieces of `inner` that have no message belong to this one. */
  | { readonly kind: 'of message'; readonly inner: Traced; readonly message: number }
  | { readonly kind: 'row'; readonly pieces: readonly RenderedPiece[] }

/** The value of a variable; undefined if it has none yet. Traced texts occur only while a template is traced. */
export type VariableValue = Value | Traced | undefined

/** A text with the pieces it consists of. */
export class Traced {
  readonly text: string
  /** Message of all pieces that have one; SEVERAL if they differ, NONE if no piece has one. */
  readonly message: number
  readonly tree: Tree
  readonly count: number
  constructor(text: string, message: number, tree: Tree, count: number) {
    this.text = text
    this.message = message
    this.tree = tree
    this.count = count
  }
}

/** Returns a literal of an expression as a traced text. */
export const literalTraced = (text: string, line: number): Traced =>
  new Traced(text, NONE, { kind: 'leaf', line, message: NONE, source: 'template' }, 1)

/** Returns any other text of an expression as a traced text. */
export const valueText = (text: string, message: number): Traced =>
  new Traced(text, message, { kind: 'leaf', line: WRITTEN_HERE, message, source: 'value' }, 1)

/** Returns the message of a text that consists of two: NONE if neither has one, SEVERAL if they differ. */
export const mergeMessageIndex = (a: number, b: number): number =>
  a === b || b === NONE ? a : a === NONE ? b : SEVERAL

/** Concatenates two traced texts. Beyond MOST_PIECES the result is a single piece. */
export function concatTraced(first: Traced, second: Traced): Traced {
  const text = first.text + second.text
  const message = mergeMessageIndex(first.message, second.message)
  const count = first.count + second.count
  if (count > MOST_PIECES) return valueText(text, message === SEVERAL ? NONE : message)
  return new Traced(text, message, { kind: 'both', first, second }, count)
}

/** Assigns a message to the pieces that have none; returns the text unchanged if `message` is NONE or SEVERAL. */
export const withMessageIndex = (traced: Traced, message: number): Traced =>
  message < 0
    ? traced
    : new Traced(
        traced.text,
        mergeMessageIndex(traced.message, message),
        { kind: 'of message', inner: traced, message },
        traced.count,
      )

/** Returns the text from `start` to `end`, in UTF-16 units, with its pieces cut to this range. */
export function sliceTraced(traced: Traced, start: number, end: number): Traced {
  const row = new Pieces()
  row.write(traced, WRITTEN_HERE, NONE)
  const pieces = row.list.flatMap((piece) => {
    const from = Math.max(piece.start, start)
    const to = Math.min(piece.end, end)
    return from < to ? [{ ...piece, start: from - start, end: to - start }] : []
  })
  return new Traced(traced.text.slice(start, end), traced.message, { kind: 'row', pieces }, pieces.length)
}

/** Collects the pieces of a text that grows. */
export class Pieces {
  readonly list: RenderedPiece[] = []
  private length = 0

  /** Appends a traced text. `line` is the line of the output, `message` the message of the pieces that have none. */
  write(traced: Traced, line: number, message: number): void {
    const open: { readonly traced: Traced; readonly message: number }[] = [{ traced, message }]
    for (let top = open.pop(); top; top = open.pop()) {
      const { tree, text } = top.traced
      if (tree.kind === 'both') {
        open.push({ traced: tree.second, message: top.message }, { traced: tree.first, message: top.message })
      } else if (tree.kind === 'of message') open.push({ traced: tree.inner, message: tree.message })
      else if (tree.kind === 'leaf') this.add(text.length, tree.line, tree, line, top.message)
      else
        for (const piece of tree.pieces)
          this.add(piece.end - piece.start, piece.line, { ...piece, message: piece.message ?? NONE }, line, top.message)
    }
  }

  /** Appends literal text of the template. */
  literal(length: number, line: number, message: number): void {
    this.push(length, line, message, 'template')
  }

  text(text: string): Traced {
    return new Traced(text, this.message(), { kind: 'row', pieces: this.list }, this.list.length)
  }

  private add(
    length: number,
    own: number,
    leaf: Pick<Leaf, 'message' | 'source'>,
    line: number,
    message: number,
  ): void {
    const index = leaf.message >= 0 ? leaf.message : message
    this.push(length, own === WRITTEN_HERE ? line : own, index, leaf.source, line)
  }

  /** `output` is the line of the output that writes the piece. */
  private push(length: number, line: number, index: number, source: RenderedPiece['source'], output = line): void {
    if (length === 0) return
    const start = this.length
    const end = start + length
    const message = index >= 0 ? index : undefined
    const last = this.list.at(-1)
    const other = output === line || output === WRITTEN_HERE ? undefined : output
    const isSame =
      last?.line === line && last.outputLine === other && last.message === message && last.source === source
    if (last && (isSame || this.list.length >= MOST_PIECES)) this.list[this.list.length - 1] = { ...last, end }
    else this.list.push({ start, end, line, ...(other !== undefined && { outputLine: other }), message, source })
    this.length = end
  }

  private message(): number {
    return this.list.reduce((found, { message }) => mergeMessageIndex(found, message ?? NONE), NONE)
  }
}
