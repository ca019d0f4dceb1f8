import { GroupScreen } from '#components/group/screen.tsx'

/** The page /group/ID: the samples of a group as a tree. */
export default async function GroupPage({ params }: { readonly params: Promise<{ id: string }> }) {
  return <GroupScreen groupId={decodeURIComponent((await params).id)} />
}
