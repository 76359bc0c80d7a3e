package io.understudy.gateway.member;

import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.MemberListResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** {@code Maintenance.Status} and {@code Cluster.MemberList}. For any thread; never waits. */
public final class MemberAnswers {

    private final String name;
    private final String version;
    private final MemberSettings settings;
    private final Supplier<@Nullable ReplicaState> replica;
    private final Supplier<@Nullable ClusterId> cluster;
    private final Supplier<@Nullable MemberId> leader;
    private final LongSupplier revision;
    private final ResponseHeaders headers;
    private final Function<String, MemberId> ids;

    /**
     * Asks the suppliers for each answer.
     *
     * @param name of this gateway
     * @param version that this gateway reports: other gateways know it by that
     * @param cluster the source's, null while nobody knows
     * @param leader the source's, null while there is none that is known of
     * @param revision the greatest that the source has reported, 0 before the first
     * @param ids of gateways, by name
     */
    public MemberAnswers(
            String name,
            String version,
            MemberSettings settings,
            Supplier<@Nullable ReplicaState> replica,
            Supplier<@Nullable ClusterId> cluster,
            Supplier<@Nullable MemberId> leader,
            LongSupplier revision,
            ResponseHeaders headers,
            Function<String, MemberId> ids) {
        this.name = name;
        this.version = version;
        this.settings = settings;
        this.replica = replica;
        this.cluster = cluster;
        this.leader = leader;
        this.revision = revision;
        this.headers = headers;
        this.ids = ids;
    }

    /**
     * That of a learner whose database is the replica, or the source as long as there is no replica.
     *
     * @throws ApiException nothing is known of the source yet
     */
    public StatusResponse status() throws ApiException {
        ReplicaState state = replica.get();
        ResponseHeader header = header(state);
        if (header.getRevision() == 0) {
            // Clients such as compactors take the revision from here.
            throw ApiException.notReady();
        }
        long bytes = state == null ? 0 : state.bytes();
        StatusResponse.Builder status = StatusResponse.newBuilder()
                .setHeader(header)
                .setVersion(version)
                .setDbSize(bytes)
                .setDbSizeInUse(bytes)
                .setRaftTerm(header.getRaftTerm())
                .setIsLearner(true);
        MemberId led = leader.get();
        if (led == null) {
            status.addErrors(ApiException.noLeader().text());
        } else {
            status.setLeader(led.value());
        }
        return status.build();
    }

    /**
     * The gateways.
     *
     * @throws ApiException nothing is known of the source yet
     */
    public MemberListResponse gateways() throws ApiException {
        MemberListResponse.Builder list = MemberListResponse.newBuilder().setHeader(header(replica.get()));
        Map<String, List<URI>> all = new TreeMap<>(settings.others());
        all.put(name, settings.advertise());
        all.forEach((gateway, urls) -> list.addMembers(Member.newBuilder()
                .setID(ids.apply(gateway).value())
                .setName(gateway)
                .addAllClientURLs(urls.stream().map(URI::toString).toList())
                .setIsLearner(true)));
        return list.build();
    }

    private ResponseHeader header(@Nullable ReplicaState state) throws ApiException {
        if (state != null) {
            return headers.of(state);
        }
        ClusterId known = cluster.get();
        if (known == null) {
            throw ApiException.notReady();
        }
        return headers.of(known, new Revision(revision.getAsLong()));
    }
}
