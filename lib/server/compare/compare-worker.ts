/** Runs in the thread that compares: at 200,000 tokens, making and comparing both sides takes seconds. */
import { openTrajectoryReader } from '#lib/store/record.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { answerRequests } from '../limited-thread.ts'
import { runCompareRequest } from './compare-request.ts'
import type { CompareWorkerReply, CompareWorkerStart, CompareWorkRequest } from './compare-worker-messages.ts'
import { runRetokenizeRequest } from './retokenize-request.ts'

answerRequests<CompareWorkerStart, CompareWorkRequest, CompareWorkerReply>(
  ({ dataFolder, examplesFolder, tokenizers }) => {
    const reader = openTrajectoryReader(dataFolder)
    const deps = { reader, examplesFolder, tokenizers: createTokenizerLoader(tokenizers) }
    return async (question) =>
      question.kind === 'sides'
        ? runCompareRequest(question, deps)
        : { kind: 'answer', text: JSON.stringify(await runRetokenizeRequest(question.request, deps)) }
  },
)
