package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.etcd.Credentials;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of take-overs to one cluster, one method each. Each may be delivered twice. One thread, except in
 * {@link #together}.
 *
 * <p>All methods throw {@link TakeOverException} if the cluster rejects the request or does not answer in time; after the
 * latter it is unknown whether the request was done.
 */
interface TakeOverCalls {

    /** The cluster in words. */
    String shown();

    /** With which these calls log in where authentication is enabled; null for none. */
    @Nullable Credentials login();

    /** The same cluster with another time to answer. */
    TakeOverCalls with(Duration patience);

    /** A linearizable read. */
    RangeResponse range(RangeRequest request);

    /** A transaction that compares what it changes. */
    TxnResponse txn(String what, TxnRequest request);

    AlarmResponse alarm(AlarmRequest request);

    boolean isAuthEnabled();

    List<String> roles();

    List<Permission> permissions(String role);

    void grant(String role, Permission permission);

    void revoke(String role, Permission permission);

    List<String> users();

    List<String> rolesOf(String user);

    /** Adds the user, or sets its password, and grants it the role {@code root}. */
    void addRoot(String user, String password);

    void enableAuth();

    void disableAuth();

    /** Returns the ID. */
    long grantLease(Duration ttl);

    void revokeLease(long lease);

    /** Keeps leases alive once; returns those that exist. */
    List<Long> keepAlive(List<Long> leases);

    /** Makes requests that do not depend on each other, at once where that saves time; returns the results in their order. */
    default <T> List<T> together(List<Supplier<T>> requests) {
        return requests.stream().map(Supplier::get).toList();
    }

    /** What each request returns, by its argument. */
    default <T> Map<String, T> together(Collection<String> all, Function<String, T> request) {
        List<T> results = together(
                all.stream().<Supplier<T>>map(each -> () -> request.apply(each)).toList());
        Map<String, T> byArgument = new LinkedHashMap<>();
        Iterator<T> next = results.iterator();
        all.forEach(each -> byArgument.put(each, next.next()));
        return byArgument;
    }

    /** One key, read linearizably; empty if there is none. */
    default Optional<KeyValue> get(ByteString key) {
        return range(RangeRequest.newBuilder().setKey(key).build()).getKvsList().stream()
                .findFirst();
    }
}
