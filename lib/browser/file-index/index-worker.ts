/** The worker that indexes a file. */
import { READ_ERRORS } from '../files/read-errors.ts'
import { answerPage } from '../workers/port.ts'
import { createIndexHost } from './index-host.ts'

answerPage(
  createIndexHost(() => performance.now()),
  READ_ERRORS,
)
