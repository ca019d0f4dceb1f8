/** Runs in the thread that imports files. A file that needs too much memory ends this thread, but not the server. */
import { openImportStore } from '#lib/store/import-store.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { refusalOf } from '../http/refusal.ts'
import { answerRequests } from '../limited-thread.ts'
import type { ImportAnswer, ImportQuestion, ImportWorkerStart } from './import-answer.ts'
import { runImportRequest } from './import-request.ts'

answerRequests<ImportWorkerStart, ImportQuestion, ImportAnswer>(({ dataFolder, tokenizers: places }) => {
  const store = openImportStore(dataFolder, () => new Date())
  const tokenizers = createTokenizerLoader(places)
  return async (question) => {
    try {
      return { kind: 'imported', imported: await runImportRequest(question, { store, tokenizers }) }
    } catch (error) {
      return refusalOf(error)
    }
  }
})
