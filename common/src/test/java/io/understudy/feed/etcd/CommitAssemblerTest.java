package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Tests invariant F2. */
class CommitAssemblerTest {

    private static final long LIMIT_BYTES = 1_000;

    private final CommitAssembler assembler = new CommitAssembler();

    @Test
    void eventsOfOneRevisionAreOneCommit() throws Exception {
        assertThat(accept(response(put(5, "a"), delete(5, "b"))))
                .singleElement()
                .satisfies(commit -> {
                    assertThat(commit.revision()).isEqualTo(new Revision(5));
                    assertThat(commit.changes()).hasSize(2).element(1).isInstanceOf(Change.Delete.class);
                });
    }

    @Test
    void aFragmentedCommitIsWithheldUntilItsLastFragment() throws Exception {
        assertThat(accept(fragment(put(5, "a")))).isEmpty();
        assertThat(accept(fragment(put(5, "b")))).isEmpty();
        assertThat(accept(response(put(5, "c")))).singleElement().satisfies(commit -> assertThat(commit.changes())
                .hasSize(3));
    }

    @Test
    void aLaterRevisionInAFragmentCompletesTheEarlierOne() throws Exception {
        assertThat(accept(fragment(put(5, "a"), put(6, "a"))))
                .extracting(Commit::revision)
                .containsExactly(new Revision(5));
        assertThat(accept(response(put(7, "a"))))
                .extracting(Commit::revision)
                .containsExactly(new Revision(6), new Revision(7));
    }

    @Test
    void aCommitAboveTheLimitIsRejectedNamingRevisionAndLimit() throws Exception {
        assertThat(accept(fragment(put(9, "x".repeat(600))))).isEmpty();

        assertThatThrownBy(() -> accept(response(put(9, "y".repeat(600)))))
                .isInstanceOf(CommitTooLarge.class)
                .hasMessageContaining("revision 9")
                .hasMessageContaining("1000");
    }

    @Test
    void theLimitIsEachCommitsOwn() throws Exception {
        assertThat(accept(response(put(5, "x".repeat(600)), put(6, "x".repeat(600)))))
                .hasSize(2);
    }

    /** However etcd cuts a history into responses and fragments, the commits are those of the history. */
    @Property
    void commitsDoNotDependOnHowTheyWereCut(
            @ForAll("histories") List<Commit> history, @ForAll("cuts") List<Integer> cuts) throws Exception {
        List<Event> events = new ArrayList<>();
        for (Commit commit : history) {
            for (Change change : commit.changes()) {
                events.add(put(commit.revision().value(), change.key().toStringUtf8()));
            }
        }
        List<Commit> given = new ArrayList<>();
        CommitAssembler fresh = new CommitAssembler();
        int from = 0;
        for (int cut : cuts) {
            int to = Math.min(events.size(), from + cut);
            boolean whole = to == events.size()
                    || (to > from
                            && events.get(to - 1).getKv().getModRevision()
                                    != events.get(to).getKv().getModRevision());
            Event[] part = events.subList(from, to).toArray(Event[]::new);
            fresh.accept(whole ? response(part) : fragment(part), LIMIT_BYTES, (commit, previous) -> given.add(commit));
            from = to;
        }
        fresh.accept(
                response(events.subList(from, events.size()).toArray(Event[]::new)),
                LIMIT_BYTES,
                (commit, previous) -> given.add(commit));

        assertThat(given).isEqualTo(history);
    }

    @Provide
    Arbitrary<List<Integer>> cuts() {
        return Arbitraries.integers().between(0, 4).list().ofMaxSize(30);
    }

    @Provide
    Arbitrary<List<Commit>> histories() {
        return Arbitraries.integers().between(1, 5).list().ofMaxSize(15).map(sizes -> {
            List<Commit> commits = new ArrayList<>();
            for (int i = 0; i < sizes.size(); i++) {
                Revision revision = new Revision(i + 2L);
                List<Change> changes = new ArrayList<>();
                for (int k = 0; k < sizes.get(i); k++) {
                    changes.add(new Change.Put(
                            EtcdMessages.keyValue(put(revision.value(), "k" + k).getKv())));
                }
                commits.add(new Commit(revision, changes));
            }
            return commits;
        });
    }

    private List<Commit> accept(WatchResponse response) throws CommitTooLarge {
        List<Commit> commits = new ArrayList<>();
        assembler.accept(response, LIMIT_BYTES, (commit, previous) -> commits.add(commit));
        return commits;
    }

    private static Event put(long revision, String key) {
        return Event.newBuilder()
                .setType(Event.EventType.PUT)
                .setKv(io.etcd.jetcd.api.KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setCreateRevision(revision)
                        .setModRevision(revision)
                        .setVersion(1))
                .build();
    }

    private static Event delete(long revision, String key) {
        return Event.newBuilder()
                .setType(Event.EventType.DELETE)
                .setKv(io.etcd.jetcd.api.KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setModRevision(revision))
                .build();
    }

    private static WatchResponse response(Event... events) {
        return WatchResponse.newBuilder().addAllEvents(Arrays.asList(events)).build();
    }

    private static WatchResponse fragment(Event... events) {
        return response(events).toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                7,
                                UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                        .build())
                .build();
    }
}
