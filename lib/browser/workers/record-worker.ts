/** The worker that reads a file record by record. */
import { answerPage } from './port.ts'
import { createRecordHost } from './record-host.ts'

answerPage(createRecordHost(), [])
