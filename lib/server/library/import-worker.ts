/** Runs in the thread that imports files. A file that needs too much memory ends this thread, but not the server. */
import type { ImportResult } from '#lib/api/imported.ts'
import { openImportStore } from '#lib/store/import-store.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { answerRequests } from '../limited-thread.ts'
import type { ImportQuestion, ImportWorkerStart } from './import-answer.ts'
import { runImportRequest } from './import-request.ts'

answerRequests<ImportWorkerStart, ImportQuestion, ImportResult>(({ dataFolder, tokenizers: places }) => {
  const store = openImportStore(dataFolder, () => new Date())
  const tokenizers = createTokenizerLoader(places)
  return (question) => runImportRequest(question, { store, tokenizers, folder: dataFolder })
})
