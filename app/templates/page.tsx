import { TemplatesScreen } from '#components/templates/screen.tsx'

/** The page /templates: the template lab. */
export default function TemplatesPage() {
  return <TemplatesScreen />
}
