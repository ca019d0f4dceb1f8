/**
 * Regular expressions, JSON schemas and calls as what may come next. Schemas by @huggingface/transformers-structured-output:
 * its processor is made for transformers.js; here it marks the forbidden tokens of one row of zeros.
 */
import type { StructuredOutputProcessor } from '@huggingface/transformers-structured-output'
import { bytesOf, textOf, type Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { beginningWithCall } from './call-grammar.ts'
import type { GrammarSource } from './job.ts'
import { regexPart } from './regex/regex-part.ts'
import { createTokenTrie } from './regex/token-trie.ts'

export interface Grammar {
  /** Forbids what must not come next. 'end': nothing but a stop id may. Throws where nothing at all may come. */
  mask(logits: Float32Array): 'open' | 'end'
  /** The token that came; where the grammar binds, a stop id ends the text, and nothing may come after it. */
  take(id: number): void
  /** It has begun. */
  isBinding(): boolean
}

export interface GrammarCompiler {
  /** `behind`: ids after which it begins; none: with the first token. Throws GrammarError. */
  compile(source: GrammarSource, behind: readonly number[]): Grammar
}

/** The request's own fault: the grammar is broken, or asks for what cannot be enforced here. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError'
}

/** `stopIds`: those of the model, which end a text that is complete. Loads the package: a tenth of a second. */
export async function loadGrammars(vocabulary: Vocabulary, stopIds: ReadonlySet<number>): Promise<GrammarCompiler> {
  const { StructuredOutputProcessor: Processor } = await import('@huggingface/transformers-structured-output')
  // One id more than there are: it stands for the end of the text, whatever ids the model ends with.
  const end = vocabulary.ends.length
  const tokens = Array.from({ length: end }, (_, id) => bytesOf(vocabulary, id)).concat(new Uint8Array(0))
  // A token without text would bring a text no further, and could come for ever.
  const silent = tokens.flatMap((bytes, id) => (bytes.length === 0 ? [id] : []))
  const tokenizer = {
    tokens,
    eos_token_id: end,
    special_token_ids: [...vocabulary.specialIds, ...stopIds, ...silent],
  }
  const row = { data: new Float32Array(tokens.length), dims: [1, tokens.length] }
  const trie = createTokenTrie(tokens.slice(0, end), new Set(tokenizer.special_token_ids))
  const regex = (source: string): Part => attempt('regex', () => regexPart(source, trie, (id) => elementAt(tokens, id)))
  const json = (source: string): Part => partOf(jsonProcessor(Processor, tokenizer, source), row)

  const grammarOf = (source: GrammarSource): Grammar => {
    switch (source.kind) {
      case 'regex':
        return onePart(regex(source.source), stopIds)
      case 'json_schema':
        return onePart(json(source.source), stopIds)
      case 'calls':
        return beginningWithCall(source.forms, { regex, json, text: (ids) => textOf(vocabulary, ids, 'all') })
    }
  }
  return {
    compile(source, behind) {
      const grammar = grammarOf(source)
      return behind.length === 0 ? grammar : beginningBehind(behind, grammar)
    },
  }
}

/** A run of text that is bound by one machine. */
export interface Part {
  /** Valid until another part is asked. */
  next(): Next
  take(id: number): void
}

interface Next {
  /** 0 for ids that may come. */
  readonly marks: ArrayLike<number>
  /** The text may end here. */
  readonly isComplete: boolean
}

interface Row {
  readonly data: Float32Array
  readonly dims: number[]
}

function partOf(processor: StructuredOutputProcessor, row: Row): Part {
  const { data } = row
  const marks = data.subarray(0, -1)
  const taken: bigint[] = []
  return {
    next() {
      data.fill(0)
      // Only these two fields of the tensor are read. Zeros keep the library from changing what it lets through.
      processor._call([taken], row as unknown as Parameters<StructuredOutputProcessor['_call']>[1])
      return { marks, isComplete: data.at(-1) === 0 }
    },
    take(id) {
      taken.push(BigInt(id))
    },
  }
}

/** The part is the whole text. */
function onePart(part: Part, stopIds: ReadonlySet<number>): Grammar {
  return {
    mask(logits) {
      const { marks, isComplete } = part.next()
      let open = 0
      for (let id = 0; id < logits.length; id++) {
        if (marks[id] === 0) open++
        else if (!isComplete || !stopIds.has(id)) logits[id] = Number.NEGATIVE_INFINITY
      }
      if (open === 0 && !(isComplete && stopIds.size > 0)) throw new Error('the grammar allows no token here')
      return open === 0 ? 'end' : 'open'
    },
    take(id) {
      if (!stopIds.has(id)) part.take(id)
    },
    isBinding: () => true,
  }
}

function beginningBehind(behind: readonly number[], grammar: Grammar): Grammar {
  const last: number[] = []
  let hasBegun = false
  return {
    mask: (logits) => (hasBegun ? grammar.mask(logits) : 'open'),
    take(id) {
      if (hasBegun) return grammar.take(id)
      last.push(id)
      if (last.length > behind.length) last.shift()
      hasBegun = last.length === behind.length && last.every((one, index) => one === behind[index])
    },
    isBinding: () => hasBegun && grammar.isBinding(),
  }
}

const jsonProcessor = (
  Processor: typeof StructuredOutputProcessor,
  tokenizer: object,
  schema: string,
): StructuredOutputProcessor =>
  attempt('json', () => new Processor(tokenizer, { type: 'json_schema', json_schema: JSON.parse(schema) as never }))

function attempt<T>(kind: 'regex' | 'json', make: () => T): T {
  try {
    return make()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new GrammarError(`Failed to compile ${kind} grammar: ${why}`, { cause: error })
  }
}
