/** Runs in the thread that compares sessions with a chat pipeline: a path of 200 calls has some million prompt tokens. */
import type { SavedCounts } from '#lib/api/sessions/savings.ts'
import { answerRequests } from '../../limited-thread.ts'
import { answerSavings, type SavingsQuestion } from './savings-question.ts'

answerRequests<unknown, SavingsQuestion, SavedCounts>(() => answerSavings)
