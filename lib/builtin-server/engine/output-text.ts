/**
 * The growing text of a generation, by SGLang's rules: an incomplete character is not sent yet, and nothing is sent while the end may be
 * the beginning of a stop text.
 */
import { type Vocabulary, vocabularyBytes } from '#lib/builtin-server/models/vocabulary.ts'
import type { JobSampling } from './job.ts'
import { stopMatcher } from './stop-pattern.ts'

/** The text of one generation. */
export interface OutputText {
  /** Reads the next token and returns the stop text or pattern that it completes. Special tokens count, whether shown or not. */
  read(id: number): string | undefined
  /** Adds the token to the text. */
  show(id: number): void
  /** Returns true while the end of the text may be the beginning of a stop text. */
  isHeld(): boolean
  /** Returns the text that was added since the last call. */
  take(): string
  /** Returns the rest, when no token follows; `stop` is what ended it. */
  end(stop: string | number | undefined): string
}

type Rules = Pick<JobSampling, 'stopTexts' | 'stopPatterns' | 'keepsStop' | 'showsSpecialTokens'>

/** Returns the empty text of a new generation. */
export function createOutputText(vocabulary: Vocabulary, rules: Rules): OutputText {
  const { stopTexts, keepsStop, showsSpecialTokens } = rules
  const stopPatternIn = stopMatcher(rules.stopPatterns)
  const visibleText = textStream()
  const everything = textStream()
  let taken = 0
  const rest = (text: string): string => {
    const added = text.slice(taken)
    taken = Math.max(taken, text.length)
    return added
  }
  return {
    read(id) {
      if (stopTexts.length === 0 && rules.stopPatterns.length === 0) return undefined
      const before = everything.text().length
      everything.add(vocabularyBytes(vocabulary, id))
      const text = everything.text()
      return stopTexts.find((stop) => text.includes(stop, before - stop.length + 1)) ?? stopPatternIn(text)
    },
    show(id) {
      if (showsSpecialTokens || !vocabulary.specialIds.has(id)) visibleText.add(vocabularyBytes(vocabulary, id))
    },
    isHeld: () => stopTexts.some((stop) => endsWithBeginningOf(everything.text(), stop)),
    take: () => rest(visibleText.text()),
    end(stop) {
      visibleText.close()
      const text = visibleText.text()
      const cut = stopTexts.find((stopText) => stopText === stop)
      // As in SGLang, an empty stop text ends the generation but cuts nothing.
      const at = cut && !keepsStop ? text.indexOf(cut) : -1
      return rest(at < 0 ? text : text.slice(0, at))
    },
  }
}

interface TextStream {
  text(): string
  add(bytes: Uint8Array): void
  close(): void
}

function textStream(): TextStream {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  return {
    text: () => text,
    add(bytes) {
      text += decoder.decode(bytes, { stream: true })
    },
    close() {
      text += decoder.decode()
    },
  }
}

function endsWithBeginningOf(text: string, stop: string): boolean {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return true
  return false
}
