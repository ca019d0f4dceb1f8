/** The routes of stored trajectories: the library, labels, import and export. */
import * as z from 'zod'
import { exportPreviewSchema } from '#lib/api/export-preview.ts'
import { importedSchema } from '#lib/api/imported.ts'
import { filterChoicesSchema, neighboursSchema, pageSchema, SORT_COLUMNS, summarySchema } from '#lib/api/library.ts'
import { revisionSchema, tokenNotesAnswerSchema } from '#lib/api/trajectory-labels.ts'
import { formats, writableFormats } from '#lib/formats/registry.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { healthSchema } from '#lib/trajectory/health/health.ts'
import { PACKED_TYPE } from '#lib/trajectory/tokens/packed-bytes.ts'
import { exportPreview, exportPreviewRequestSchema, exportRequestSchema, exportSeveral } from '../exports/export.ts'
import { ADVANTAGE_TEXT } from '../exports/export-advantage.ts'
import { exportTrajectory, FORCED_TEXT } from '../exports/export-trajectory.ts'
import { trajectoryForViewer } from '../exports/trajectory-for-viewer.ts'
import { EMPTY_BODY, endpoint, fileBody, jsonBody, largeJsonBody } from '../http/endpoint.ts'
import { addedColumnsSchema, changeColumns, columnsChangeSchema } from '../library/columns.ts'
import {
  completeWithTokenizer,
  importUrlSchema,
  PARSER_MEANING,
  storeFile,
  storeUrl,
  tokenizerChoiceSchema,
} from '../library/import.ts'
import {
  addNote,
  changeNote,
  labelChangeSchema,
  labelTrajectory,
  noteChangeSchema,
  noteSchema,
} from '../library/labels.ts'
import {
  listPage,
  removeTrajectory,
  restoreTrajectory,
  trajectoryHealth,
  trajectoryNeighbours,
  trajectoryRevision,
} from '../library/library.ts'
import { repairChoiceSchema, repairTrajectory } from '../library/repairs.ts'
import { addPromptLogprobs, promptLogprobsRequestSchema } from '../runs/prompt-logprobs.ts'

/** Query parameters of the list, which select its rows and their order. */
const LIST_QUERY = {
  q: 'Words and "phrases". Each must occur in the title, the first 4,000 characters of the first question, tags, note, notes on tokens, model, outcome or file name, or begin a word that the model wrote. Numbers: reward, tokens, trained, logprob (mean), turns, segments, calls, failed, as in reward>0.5 or tokens:1000-2000. A minus before a term excludes it.',
  outcome: 'running, ended or failed, or a stop reason or error code such as length.',
  tag: 'A required tag. May be given several times.',
  source: 'rollout, import, fork or recorded. import:{format} selects one file format.',
  health: 'problems (errors or warnings), none, drift, unchecked, or lost (trained tokens that `cut` removes).',
  cut: 'Maximum number of tokens of a sample that the trainer accepts. `cut` in the answer counts the lost tokens, and rows list them as a finding.',
  overlong: 'What the trainer does with longer samples: cut (it uses their first tokens), mask or drop. Default cut.',
  group: 'Id of a group of samples.',
  groups:
    'folded: a group is one row, with its first sample in this order; `groups` in the answer describes all its samples. open (default): each sample is a row.',
  estimates:
    'hidden: without the samples of value estimates; `hidden` in the answer counts those that match otherwise. shown (default): with them.',
  sort: `${SORT_COLUMNS.join(', ')}. Default added.`,
  order: 'asc or desc. Default desc, but asc for titles. Unknown values are last in both orders.',
} as const

/** Rows of stored trajectories. */
export const trajectoryRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/trajectories',
    summary: 'Lists stored trajectories, page by page.',
    query: {
      ...LIST_QUERY,
      limit: 'Rows per page, at most 200. Default 50.',
      cursor: '`next` or `previous` of a page with the same sort and order.',
    },
    answers: {
      200: {
        description: 'A page.',
        schema: pageSchema,
      },
    },
    handle: ({ request, services }) => {
      services.health.checkStored()
      return listPage(request, services)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}',
    summary: `Returns a stored trajectory. Pages accept ${PACKED_TYPE}, its columns as packed bytes.`,
    answers: { 200: { description: 'The trajectory.', schema: trajectorySchema } },
    handle: ({ request, params, services }) => trajectoryForViewer(request, params.key, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/neighbours',
    summary: 'Returns the position of a stored trajectory in a list, and the rows before and after it.',
    query: LIST_QUERY,
    answers: { 200: { description: 'Its place.', schema: neighboursSchema } },
    handle: ({ request, params, services }) => trajectoryNeighbours(params.key, request, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/health',
    summary:
      'Reports the findings of a stored trajectory, and the checks that could not run. At most 200 places of each finding.',
    answers: { 200: { description: 'Findings and checks.', schema: healthSchema } },
    handle: ({ params, services }) => trajectoryHealth(params.key, services),
  }),
  endpoint({
    method: 'PATCH',
    path: '/api/trajectories/{key}',
    summary: 'Changes title, tags, note, notes on tokens or reward, also during a run.',
    body: jsonBody(labelChangeSchema),
    answers: { 200: { description: 'The row of the trajectory in the list.', schema: summarySchema } },
    handle: ({ params, body, services }) => labelTrajectory(params.key, body, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/notes',
    summary: 'Adds a note on tokens, also during a run. The other notes stay.',
    writes: true,
    body: jsonBody(noteSchema),
    answers: { 201: { description: 'All notes.', schema: tokenNotesAnswerSchema } },
    handle: ({ params, body, services }) => addNote(params.key, body, services),
  }),
  endpoint({
    method: 'PATCH',
    path: '/api/trajectories/{key}/notes/{id}',
    summary: 'Changes or deletes one note on tokens. The other notes stay.',
    body: jsonBody(noteChangeSchema),
    answers: { 200: { description: 'All notes.', schema: tokenNotesAnswerSchema } },
    handle: ({ params, body, services }) => changeNote(params.key, params.id, body, services),
  }),
  endpoint({
    method: 'PATCH',
    path: '/api/trajectories/{key}/columns',
    summary:
      'Adds, changes or removes columns of a trajectory that has ended, such as the trainer’s logprobs. All of them are stored, or none.',
    body: largeJsonBody(columnsChangeSchema),
    answers: { 200: { description: 'The columns after the change.', schema: addedColumnsSchema } },
    handle: ({ params, body, services }) => changeColumns(params.key, body, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/revision',
    summary:
      'Returns how often a trajectory was changed, and its labels. Pages request it to show changes of other pages and programs.',
    answers: { 200: { description: 'The revision and the labels.', schema: revisionSchema } },
    handle: ({ params, services }) => trajectoryRevision(params.key, services),
  }),
  endpoint({
    method: 'DELETE',
    path: '/api/trajectories/{key}',
    summary: 'Deletes a trajectory that is not running. It can be restored for at least a day.',
    body: EMPTY_BODY,
    answers: { 204: { description: 'Deleted.' } },
    handle: ({ params, services }) => void removeTrajectory(params.key, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/restore',
    summary: 'Restores a deleted trajectory.',
    writes: true,
    body: EMPTY_BODY,
    answers: { 200: { description: 'The row of the trajectory in the list.', schema: summarySchema } },
    handle: ({ params, services }) => restoreTrajectory(params.key, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/export',
    summary: 'Exports a trajectory as a file.',
    query: {
      format: `One of ${writableFormats.map(({ name }) => name).join(', ')}. Default rollscope.`,
      forced: FORCED_TEXT,
      advantage: ADVANTAGE_TEXT,
    },
    answers: { 200: { description: 'The file.', schema: z.looseObject({}) } },
    handle: ({ request, params, services }) => exportTrajectory(request, params.key, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/tokenizer',
    summary:
      'Adds texts, think blocks and tool calls to a trajectory that was imported as ids, and ids to one that was imported as messages.',
    writes: true,
    body: jsonBody(tokenizerChoiceSchema),
    answers: { 200: { description: 'The completed trajectory.', schema: trajectorySchema } },
    handle: ({ params, body, services, signal }) => completeWithTokenizer(params.key, body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/repairs',
    summary:
      'Repairs an imported trajectory as a finding of its health offers, and records the repair in it; or undoes a recorded repair.',
    writes: true,
    body: jsonBody(repairChoiceSchema),
    answers: { 200: { description: 'The changed trajectory.', schema: trajectorySchema } },
    handle: ({ params, body, services }) => repairTrajectory(params.key, body, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/prompt-logprobs',
    summary: 'Requests the missing logprobs of prompts from the model that sampled the trajectory, and stores them.',
    writes: true,
    body: jsonBody(promptLogprobsRequestSchema),
    answers: { 200: { description: 'The completed trajectory.', schema: trajectorySchema } },
    handle: ({ params, body, services, signal }) => addPromptLogprobs(params.key, body, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/library',
    summary: 'Lists the values that the library can be filtered by.',
    answers: {
      200: {
        description: 'The outcomes, sources and tags in the library.',
        schema: filterChoicesSchema,
      },
    },
    handle: ({ services }) => services.store.choices(),
  }),
  endpoint({
    method: 'POST',
    path: '/api/export',
    summary:
      'Exports several trajectories as one file, one per line. Formats that need tokens leave out trajectories without; the header x-rollscope-excluded counts them.',
    body: jsonBody(exportRequestSchema),
    answers: { 200: { description: 'The file.', lines: z.union([trajectorySchema, z.looseObject({})]) } },
    handle: ({ body, services, signal }) => exportSeveral(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/export/preview',
    summary: 'Reports what such a file would contain: the trajectories without tokens, and what each format loses.',
    body: jsonBody(exportPreviewRequestSchema),
    answers: { 200: { description: 'The preview.', schema: exportPreviewSchema } },
    handle: ({ body, services, signal }) => exportPreview(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/import',
    summary: 'Stores all trajectories of a file that can be read, and lists the records that cannot.',
    query: {
      name: 'Name of the file, stored with the trajectories.',
      format: `One of ${formats.map(({ name }) => name).join(', ')}. Default: detected from the file.`,
      tokenizer:
        'Hub name or folder, for files that contain only ids or only messages. Default: texts of ids stay unknown, and messages have no tokens.',
      parser: `Only with \`tokenizer\`. ${PARSER_MEANING}`,
    },
    body: fileBody(
      'The file: JSON, JSON lines, a table, or an archive of them. docs/limits.md lists the kinds and the limits.',
    ),
    answers: {
      201: {
        description: 'The trajectories that were found, and their keys.',
        schema: importedSchema,
      },
    },
    handle: ({ request, services }) => storeFile(request, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/import/url',
    summary: 'Downloads a file from a host that the operator allows, and stores it as POST /api/import does.',
    body: jsonBody(importUrlSchema),
    answers: {
      201: {
        description: 'The trajectories that were found, and their keys.',
        schema: importedSchema,
      },
    },
    handle: ({ body, services, signal }) => storeUrl(body, services, signal),
  }),
]
