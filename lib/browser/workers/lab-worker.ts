/** The worker of the template lab: templates are programs and encoding takes time; neither may block the page. */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import { tasks } from '#lib/templates/tasks/tasks.ts'
import { loadTokenizer } from './load-tokenizer.ts'
import { serveTasks } from './task-port.ts'

serveTasks<LabTokenizer>({ tasks, hold: loadTokenizer })
