/** The worker that reads trajectories, because parsing 200,000 tokens would block a page for too long. */
import { answerPage } from './port.ts'
import { READ_ERRORS, readTrajectory } from './read-host.ts'

answerPage(readTrajectory, READ_ERRORS)
