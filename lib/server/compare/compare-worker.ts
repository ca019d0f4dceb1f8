/** The thread that compares: at 200,000 tokens making the sides and holding them against each other takes seconds. */
import { openTrajectoryReader } from '#lib/store/record.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { refusalOf } from '../http/refusal.ts'
import { answerAsked } from '../limited-thread.ts'
import { compareAsked } from './compare-request.ts'
import type { CompareAnswered, CompareQuestion, CompareWorkerStart } from './compare-worker-messages.ts'
import { retokenizeAsked } from './retokenize-request.ts'

answerAsked<CompareWorkerStart, CompareQuestion, CompareAnswered>(({ dataFolder, examplesFolder, tokenizers }) => {
  const reader = openTrajectoryReader(dataFolder)
  const deps = { reader, examplesFolder, tokenizers: createTokenizerLoader(tokenizers) }
  return async (question) => {
    try {
      return question.kind === 'sides'
        ? await compareAsked(question, deps)
        : { kind: 'answer', text: JSON.stringify(await retokenizeAsked(question.request, deps)) }
    } catch (error) {
      return refusalOf(error)
    }
  }
})
