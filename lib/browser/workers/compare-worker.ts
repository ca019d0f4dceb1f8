/** The worker of the compare page: makes sides and holds them against each other, beside the page. */
import { compareHost } from './compare-host.ts'
import { serveTasks } from './task-port.ts'

serveTasks(compareHost)
