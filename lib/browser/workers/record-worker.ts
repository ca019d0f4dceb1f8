/** The worker that reads a file record by record. */

import { READ_ERRORS } from '../files/read-errors.ts'
import { answerPage } from './port.ts'
import { createRecordHost } from './record-host.ts'

answerPage(createRecordHost(), READ_ERRORS)
