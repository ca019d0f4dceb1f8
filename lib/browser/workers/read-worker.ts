/** The worker that reads trajectories, because parsing 200,000 tokens would block a page for too long. */

import { READ_ERRORS } from '../files/read-errors.ts'
import { answerPage } from './port.ts'
import { readTrajectory } from './read-host.ts'

answerPage(readTrajectory, READ_ERRORS)
