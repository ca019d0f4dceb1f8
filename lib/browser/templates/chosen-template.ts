/** Returns the text of a template that was chosen for a side of a comparison. Throws ApiError, or the signal's reason. */
import type { TemplateChoice } from '#lib/analysis/compare/side.ts'
import { inputOf } from '#lib/templates/document/document.ts'
import { selectTemplate } from '#lib/templates/document/template-files.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError } from '../api.ts'
import { openDocumentStorage, storedDocument } from './lab-document.ts'
import { tokenizerTemplates } from './template-sources.ts'

interface Deps {
  readonly trajectory: (key: string) => Promise<TrajectoryView>
  readonly signal: AbortSignal
}

/** Returns the text of a choice. `hasTools`: some models have another template for conversations with tools. */
export async function chosenTemplateText(
  choice: TemplateChoice,
  hasTools: boolean,
  { trajectory, signal }: Deps,
): Promise<string> {
  switch (choice.kind) {
    case 'tokenizer': {
      const found = selectTemplate(await tokenizerTemplates(choice.name, signal), hasTools)?.text
      return found ?? lacking(`${choice.name} has no chat template.`)
    }
    case 'trajectory': {
      const text = (await trajectory(choice.key)).model.template?.text
      return text || lacking(`The trajectory ${choice.key} has no chat template.`)
    }
    case 'lab': {
      const document = await storedDocument(openDocumentStorage())
      return document ? inputOf(document).template : lacking('The template lab in this browser has no template.')
    }
  }
}

function lacking(message: string): never {
  throw new ApiError(0, 'NO_TEMPLATE', message, 'Choose another template for this side.')
}
