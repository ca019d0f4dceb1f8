/** The worker of the compare page, which makes and compares both sides. */
import { compareHost } from './compare-host.ts'
import { serveTasks } from './task-port.ts'

serveTasks(compareHost)
