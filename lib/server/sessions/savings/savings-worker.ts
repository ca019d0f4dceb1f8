/** Runs in the thread that compares sessions with a chat pipeline: a path of 200 calls has some million prompt tokens. */
import { answerRequests } from '../../limited-thread.ts'
import { answerSavings, type SavingsCounts, type SavingsQuestion } from './savings-question.ts'

answerRequests<unknown, SavingsQuestion, SavingsCounts>(() => answerSavings)
