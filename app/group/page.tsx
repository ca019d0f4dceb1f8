import { GroupScreen } from '#components/group/screen.tsx'

/** The page /group: selected trajectories as a tree. */
export default function SelectionPage() {
  return <GroupScreen groupId={undefined} />
}
