/** Entry of an offline page; scripts/build/offline-bundle.ts bundles it into one file. */
import { createRoot } from 'react-dom/client'
import { PAYLOAD_ID, ROOT_ID } from '#lib/share/offline/page.ts'
import { unpackDocument } from '#lib/share/offline/payload.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { OfflineView } from './offline-view.tsx'

const root = createRoot(document.getElementById(ROOT_ID) as HTMLElement)

async function start(): Promise<void> {
  const payload = JSON.parse(document.getElementById(PAYLOAD_ID)?.textContent ?? '') as string
  const { trajectory, view } = await unpackDocument(payload)
  root.render(<OfflineView trajectory={pack(trajectory).trajectory} view={view} />)
}

start().catch((error: unknown) =>
  root.render(
    <p role="alert" className="p-4">
      This page is damaged: what it should show cannot be read. {error instanceof Error && error.message}
    </p>,
  ),
)
