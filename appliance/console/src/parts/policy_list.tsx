// Where policies are set: the directories that have one of their own.
import { type usePages } from '../api/load.ts';
import { useWords } from '../words/words.tsx';
import { Problem, Table } from './basics.tsx';
import { Pager, RowButton } from './records.tsx';

interface PolicyListProps<Policy> {
  list: ReturnType<typeof usePages<Policy, 'policies'>>;
  says(policy: Policy): string; // its rules in a line
  onPath(path: string): void; // a user opens one
}

export function PolicyList<Policy extends { path: string }>({ list, says, onPath }: PolicyListProps<Policy>) {
  const { t } = useWords();
  return (
    <>
      <Problem error={list.error} />
      <Table<Policy>
        caption={t.policies.list}
        rows={list.rows}
        rowKey={(policy) => policy.path}
        empty={t.policies.none}
        columns={[
          {
            key: 'path',
            head: t.exports.directory,
            cell: (policy) => (
              <RowButton says={t.policies.show(policy.path)} onClick={() => onPath(policy.path)}>
                {policy.path}
              </RowButton>
            ),
            names: true,
          },
          { key: 'says', head: t.policies.says, cell: says },
        ]}
      />
      <Pager {...list.pager} />
    </>
  );
}
