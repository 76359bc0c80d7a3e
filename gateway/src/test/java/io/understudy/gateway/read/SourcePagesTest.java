package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.read.SourceRange.SourceAnswer;
import io.understudy.gateway.read.Upstream.LargerResponse;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Pages of a source in memory. */
final class SourcePagesTest {

    private static final long REVISION = 9;
    private static final ByteString VALUE = ByteString.copyFrom(new byte[100_000]);
    private static final RangeRequest ALL = RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("k"))
            .setRangeEnd(ByteString.copyFromUtf8("l"))
            .build();
    private static final List<Entry> ENTRIES = IntStream.range(0, 3_000)
            .mapToObj(i -> Entry.of(new KeyValue(
                    ByteString.copyFromUtf8("k%04d".formatted(i)), VALUE, new Revision(2), new Revision(2), 1, 0)))
            .toList();
    private static final long BYTES = ENTRIES.get(0).wireSize();

    private final List<RangeRequest> pages = new ArrayList<>();
    /** Keys of the largest response that the source can send. */
    private int most = 1_000;

    @Test
    void theResponseIsThatOfOnePage() {
        for (long limit : List.of(0, 1, 999, 1_000, 1_001, 2_500, 2_999, 3_000, 4_000)) {
            RangeRequest request = ALL.toBuilder().setLimit(limit).build();
            assertThat(read(request)).isEqualTo(page(request));
        }
    }

    @Test
    void laterPagesAreOfTheRevisionOfTheFirst() {
        read(ALL);
        assertThat(pages.get(0)).isEqualTo(ALL.toBuilder().setLimit(1_000).build());
        assertThat(pages)
                .hasSizeGreaterThan(2)
                .extracting(RangeRequest::getRevision)
                .startsWith(0L, REVISION)
                .containsOnlyOnce(0L);

        pages.clear();
        read(ALL.toBuilder().setRevision(4).build());
        assertThat(pages).extracting(RangeRequest::getRevision).containsOnly(4L);
    }

    /** For which etcd would read all keys. */
    @Test
    void noOrderIsRequested() {
        read(ALL.toBuilder().setSortOrder(SortOrder.ASCEND).build());
        assertThat(pages).extracting(RangeRequest::getSortOrder).containsOnly(SortOrder.NONE);
    }

    @Test
    void aPageThatIsTooLargeIsReadWithFewerKeys() {
        most = 70;
        assertThat(read(ALL).entries()).isEqualTo(ENTRIES);
        most = 0;
        assertThat(failure(Long.MAX_VALUE, Long.MAX_VALUE))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("exceeds maximum size");
    }

    @Test
    void aLargerResponseIsReportedByItsEstimatedSize() {
        long all = ENTRIES.size() * BYTES;
        assertThat(failure(all - 1, 2 * all))
                .isInstanceOfSatisfying(
                        LargerResponse.class, larger -> assertThat(larger.bytes).isBetween(all, all + all / 3));
        assertThat(pages).hasSize(1);
        assertThat(failure(all - 1, all))
                .isInstanceOfSatisfying(
                        LargerResponse.class, larger -> assertThat(larger.bytes).isEqualTo(all));
    }

    @Test
    void aResponseAboveTheLargestIsReadUpToThat() {
        long half = ENTRIES.size() / 2 * BYTES;
        assertThat(failure(half, half)).isInstanceOfSatisfying(ApiException.class, refusal -> {
            assertThat(refusal.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(refusal.text()).contains("reads.maxPassedThroughBytes");
        });
        assertThat(pages).hasSizeGreaterThan(1);
    }

    private SourceAnswer read(RangeRequest request) {
        return new SourcePages(request, Long.MAX_VALUE, Long.MAX_VALUE, (page, first) -> send(page))
                .read()
                .result();
    }

    private Throwable failure(long room, long largest) {
        pages.clear();
        return new SourcePages(ALL, room, largest, (page, first) -> send(page))
                .read()
                .cause();
    }

    private Future<SourceAnswer> send(RangeRequest request) {
        pages.add(request);
        SourceAnswer answer = page(request);
        return answer.entries().size() > most
                ? Future.failedFuture(new ApiException(
                        Status.Code.RESOURCE_EXHAUSTED, "gRPC message exceeds maximum size 67108864: 67108865"))
                : Future.succeededFuture(answer);
    }

    private static SourceAnswer page(RangeRequest request) {
        List<Entry> inside = ENTRIES.stream()
                .filter(entry -> KeyRange.KEY_ORDER.compare(entry.key(), request.getKey()) >= 0)
                .toList();
        long limit = request.getLimit() > 0 ? request.getLimit() : Long.MAX_VALUE;
        List<Entry> shown = inside.stream().limit(limit).toList();
        return new SourceAnswer(
                new ClusterId(7),
                REVISION,
                shown,
                inside.size() > shown.size(),
                inside.size(),
                Origin.LEARNER,
                shown.size() * BYTES);
    }
}
