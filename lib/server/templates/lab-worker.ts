/** Runs in a thread that renders and encodes: a template is a program, and a text of one long word takes seconds. */
import { openTrajectoryReader } from '#lib/store/record.ts'
import { createTokenizerLoader, type TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import { answerRequests } from '../limited-thread.ts'
import { createLabAnswers, type LabAnswers, type LabWorkRequest } from './lab-answers.ts'

/** Data that a lab thread receives when it starts. */
export interface LabWorkerStart {
  readonly dataFolder: string
  readonly tokenizers: TokenizerPlaces
}

answerRequests<LabWorkerStart, LabWorkRequest, LabAnswers[keyof LabAnswers]>(({ dataFolder, tokenizers }) =>
  createLabAnswers({ reader: openTrajectoryReader(dataFolder), tokenizers: createTokenizerLoader(tokenizers) }),
)
