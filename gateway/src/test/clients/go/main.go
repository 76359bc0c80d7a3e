// Uses each part of clientv3 at the endpoint given; prints one line per step.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/clientv3util"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.etcd.io/etcd/client/v3/leasing"
	"go.etcd.io/etcd/client/v3/mirror"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/client/v3/naming/endpoints"
	"go.etcd.io/etcd/client/v3/naming/resolver"
	"go.etcd.io/etcd/client/v3/ordering"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

var (
	section string
	step    int
	ctx     = context.Background()
)

func begin(name string) { section, step = name, 0 }

func say(format string, values ...any) {
	step++
	fmt.Printf("%s %d: %s\n", section, step, fmt.Sprintf(format, values...))
}

func show(what string, result any, err error) {
	if err != nil {
		say("%s error %s", what, text(err))
		return
	}
	say("%s %s", what, describe(result))
}

func text(err error) string { return fmt.Sprintf("%v %v", status.Code(err), err) }

func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}

func kv(kv *mvccpb.KeyValue) string {
	if kv == nil {
		return "none"
	}
	return fmt.Sprintf("%q=%q create=%d mod=%d version=%d lease=%d", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease)
}

func kvs(list []*mvccpb.KeyValue) string {
	parts := make([]string, len(list))
	for i, each := range list {
		parts[i] = kv(each)
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

func describe(result any) string {
	switch r := result.(type) {
	case *clientv3.PutResponse:
		return fmt.Sprintf("rev=%d previous %s", r.Header.Revision, kv(r.PrevKv))
	case *clientv3.GetResponse:
		return fmt.Sprintf("rev=%d count %d more %v %s", r.Header.Revision, r.Count, r.More, kvs(r.Kvs))
	case *clientv3.DeleteResponse:
		return fmt.Sprintf("rev=%d deleted %d previous %s", r.Header.Revision, r.Deleted, kvs(r.PrevKvs))
	case *clientv3.TxnResponse:
		parts := make([]string, len(r.Responses))
		for i, each := range r.Responses {
			switch {
			case each.GetResponsePut() != nil:
				parts[i] = "put " + describe((*clientv3.PutResponse)(each.GetResponsePut()))
			case each.GetResponseRange() != nil:
				parts[i] = "get " + describe((*clientv3.GetResponse)(each.GetResponseRange()))
			case each.GetResponseDeleteRange() != nil:
				parts[i] = "delete " + describe((*clientv3.DeleteResponse)(each.GetResponseDeleteRange()))
			default:
				parts[i] = "txn " + describe((*clientv3.TxnResponse)(each.GetResponseTxn()))
			}
		}
		return fmt.Sprintf("rev=%d succeeded %v {%s}", r.Header.Revision, r.Succeeded, strings.Join(parts, " | "))
	case clientv3.WatchResponse:
		parts := make([]string, len(r.Events))
		for i, each := range r.Events {
			parts[i] = fmt.Sprintf("%v %s before %s", each.Type, kv(each.Kv), kv(each.PrevKv))
		}
		return fmt.Sprintf("rev=%d created %v canceled %v compact rev=%d progress %v error %v [%s]", r.Header.Revision, r.Created, r.Canceled,
			r.CompactRevision, r.IsProgressNotify(), r.Err(), strings.Join(parts, "; "))
	default:
		return fmt.Sprint(result)
	}
}

func client() *clientv3.Client {
	return must(clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 30 * time.Second}))
}

func put(c *clientv3.Client, key, value string) *clientv3.PutResponse {
	return must(c.Put(ctx, key, value))
}

func keyValues(c *clientv3.Client) {
	begin("KV")
	r, err := c.Put(ctx, "k/1", "one")
	show("put", r, err)
	first := r.Header.Revision
	for _, each := range []string{"k/2", "k/3", "k/4", "m"} {
		r, err = c.Put(ctx, each, "value of "+each)
		show("put", r, err)
	}
	r, err = c.Put(ctx, "k/1", "again", clientv3.WithPrevKV())
	show("put with previous", r, err)
	r, err = c.Put(ctx, "k/1", "ok", clientv3.WithIgnoreValue())
	show("put of the same value", r, err)
	r, err = c.Put(ctx, "absent", "ok", clientv3.WithIgnoreValue())
	show("put of the same value of an absent key", r, err)
	r, err = c.Put(ctx, "ok", "x")
	show("put without key", r, err)
	r, err = c.Put(ctx, "k/1", "x", clientv3.WithLease(12345))
	show("put with an unknown lease", r, err)
	gets := []struct {
		name    string
		key     string
		options []clientv3.OpOption
	}{
		{"get", "k/1", nil},
		{"get absent", "absent", nil},
		{"get serializable", "k/1", []clientv3.OpOption{clientv3.WithSerializable()}},
		{"get prefix", "k/", []clientv3.OpOption{clientv3.WithPrefix()}},
		{"get range", "k/2", []clientv3.OpOption{clientv3.WithRange("k/4")}},
		{"get from key", "k/3", []clientv3.OpOption{clientv3.WithFromKey()}},
		{"get limit", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithLimit(2)}},
		{"get count", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithCountOnly()}},
		{"get keys", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithKeysOnly()}},
		{"get at revision", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(first + 2)}},
		{"get future", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(first + 100000)}},
		{"get descending", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend)}},
		{"get by value", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByValue, clientv3.SortAscend), clientv3.WithLimit(3)}},
		{"get min mod", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithMinModRev(first + 3)}},
		{"get max create", "k/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithMaxCreateRev(first + 1)}},
		{"get first created", "k/", clientv3.WithFirstCreate()},
		{"get last by revision", "k/", clientv3.WithLastRev()},
		{"get all", "ok", []clientv3.OpOption{clientv3.WithPrefix()}},
	}
	for _, get := range gets {
		r, err := c.Get(ctx, get.key, get.options...)
		show(get.name, r, err)
	}
	d, err := c.Delete(ctx, "k/2", clientv3.WithPrevKV())
	show("delete", d, err)
	d, err = c.Delete(ctx, "absent")
	show("delete absent", d, err)
	d, err = c.Delete(ctx, "k/", clientv3.WithPrefix(), clientv3.WithPrevKV())
	show("delete prefix", d, err)
	compact, err := c.Compact(ctx, first+3)
	if err == nil {
		say("compact rev=%d", compact.Header.Revision)
	} else {
		say("compact error %s", text(err))
	}
	_, err = c.Compact(ctx, first+3)
	show("compact again", "ok", err)
	_, err = c.Compact(ctx, first+100000)
	show("compact future", "ok", err)
	g, err := c.Get(ctx, "k/1", clientv3.WithRev(first))
	show("get compacted", g, err)
	g, err = c.Get(ctx, "k/", clientv3.WithPrefix(), clientv3.WithRev(first+3))
	show("get at the compacted revision", g, err)

	begin("range stream")
	for i := 0; i < 30; i++ {
		put(c, fmt.Sprintf("s/%02d", i), strings.Repeat("x", 1000))
	}
	whole, err := clientv3.GetStreamToGetResponse(must(c.GetStream(ctx, "s/", clientv3.WithPrefix())))
	if err == nil {
		say("rev=%d %d of %d more %v", whole.Header.Revision, len(whole.Kvs), whole.Count, whole.More)
	} else {
		say("error %s", text(err))
	}
}

func transactions(c *clientv3.Client) {
	begin("transactions")
	put(c, "t/1", "one")
	put(c, "t/2", "two")
	r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Value("t/1"), "=", "one"), clientv3util.KeyMissing("t/3")).
		Then(clientv3.OpPut("t/3", "three", clientv3.WithPrevKV()), clientv3.OpGet("t/", clientv3.WithPrefix()), clientv3.OpDelete("t/2", clientv3.WithPrevKV())).
		Else(clientv3.OpGet("t/1")).Commit()
	show("then", r, err)
	r, err = c.Txn(ctx).If(clientv3util.KeyMissing("t/3")).Then(clientv3.OpPut("t/3", "x")).Else(clientv3.OpGet("t/3"), clientv3.OpPut("t/4", "four")).Commit()
	show("else", r, err)
	r, err = c.Txn(ctx).If(clientv3.Compare(clientv3.Version("t/3"), ">", 0).WithPrefix(), clientv3.Compare(clientv3.LeaseValue("t/3"), "=", 0)).
		Then(clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision("t/9"), "=", 0)}, []clientv3.Op{clientv3.OpGet("t/4")}, nil), clientv3.OpGet("t/1")).Commit()
	show("nested, reads only", r, err)
	r, err = c.Txn(ctx).Then(clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpPut("t/5", "five")}, nil)).Commit()
	show("nested write", r, err)
	r, err = c.Txn(ctx).Then(clientv3.OpPut("t/6", "a"), clientv3.OpPut("t/6", "b")).Commit()
	show("the same key twice", r, err)
	r, err = c.Txn(ctx).Then(clientv3.OpGet("t/", clientv3.WithPrefix(), clientv3.WithRev(1))).Commit()
	show("compacted", r, err)
	r, err = c.Txn(ctx).Commit()
	show("empty", r, err)
	many := make([]clientv3.Op, 129)
	for i := range many {
		many[i] = clientv3.OpPut(fmt.Sprintf("t/many/%d", i), "x")
	}
	r, err = c.Txn(ctx).Then(many...).Commit()
	show("too many", r, err)
	_, err = c.Put(ctx, "t/large", strings.Repeat("x", 1600000))
	show("too large", "ok", err)
}

func next(name string, channel clientv3.WatchChan) clientv3.WatchResponse {
	select {
	case r, ok := <-channel:
		if ok {
			show(name, r, nil)
		} else {
			say("%s closed", name)
		}
		return r
	case <-time.After(30 * time.Second):
		say("%s nothing", name)
		return clientv3.WatchResponse{}
	}
}

func watches(c *clientv3.Client) {
	begin("watches")
	first := put(c, "w/1", "one").Header.Revision
	w, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	open := func(name, key string, options ...clientv3.OpOption) clientv3.WatchChan {
		channel := c.Watch(w, key, append(options, clientv3.WithCreatedNotify())...)
		next(name, channel)
		return channel
	}
	key := open("key", "w/1")
	prefix := open("prefix with previous", "w/", clientv3.WithPrefix(), clientv3.WithPrevKV())
	ranged := open("range", "w/2", clientv3.WithRange("w/4"))
	deletes := open("deletes", "w/", clientv3.WithPrefix(), clientv3.WithFilterPut())
	puts := open("puts", "w/", clientv3.WithPrefix(), clientv3.WithFilterDelete())
	put(c, "w/1", "again")
	must(c.Txn(ctx).Then(clientv3.OpPut("w/2", "two"), clientv3.OpPut("w/3", "three"), clientv3.OpDelete("w/1")).Commit())
	must(c.Delete(ctx, "w/", clientv3.WithPrefix()))
	for _, each := range []struct {
		name    string
		channel clientv3.WatchChan
		events  int
	}{{"key", key, 2}, {"prefix", prefix, 6}, {"range", ranged, 4}, {"deletes", deletes, 3}, {"puts", puts, 3}} {
		// How many events are in one response depends on time.
		events := []string{}
		for len(events) < each.events {
			select {
			case r := <-each.channel:
				for _, event := range r.Events {
					events = append(events, fmt.Sprintf("%v %s before %s", event.Type, kv(event.Kv), kv(event.PrevKv)))
				}
			case <-time.After(30 * time.Second):
				events = append(events, "nothing", "ok", "", "", "", "")
			}
		}
		say("%s %s", each.name, strings.Join(events, "; "))
	}
	past := c.Watch(w, "w/", clientv3.WithPrefix(), clientv3.WithRev(first), clientv3.WithPrevKV())
	next("past", past)
	next("compacted", c.Watch(w, "w/", clientv3.WithPrefix(), clientv3.WithRev(1)))
	future := c.Watch(w, "w/future", clientv3.WithRev(first+6))
	put(c, "w/future", "early")
	put(c, "w/future", "early as well")
	put(c, "w/future", "in time")
	next("future", future)
	// A client with a stream of its own: other watchers of the stream of c are answered, too.
	p := client()
	defer p.Close()
	progress := p.Watch(w, "w/none", clientv3.WithCreatedNotify())
	next("before progress", progress)
	show("request progress", "ok", p.RequestProgress(w))
	next("progress", progress)
	cancel()
	for r := range key {
		show("unexpected", r, nil)
	}
	say("closed")
}

func leases(c *clientv3.Client) {
	begin("leases")
	grant := must(c.Grant(ctx, 600))
	say("grant rev=%d lease=%d ttl %d %s", grant.Revision, grant.ID, grant.TTL, grant.Error)
	must(c.Put(ctx, "l/1", "one", clientv3.WithLease(grant.ID)))
	must(c.Put(ctx, "l/2", "two", clientv3.WithLease(grant.ID)))
	g, err := c.Get(ctx, "l/", clientv3.WithPrefix())
	show("get", g, err)
	ttl, err := c.TimeToLive(ctx, grant.ID, clientv3.WithAttachedKeys())
	if err != nil {
		panic(err)
	}
	// etcd has them in a map.
	slices.SortFunc(ttl.Keys, bytes.Compare)
	say("time to live rev=%d lease=%d granted %d positive %v keys %q", ttl.Revision, ttl.ID, ttl.GrantedTTL, ttl.TTL > 0, ttl.Keys)
	once, err := c.KeepAliveOnce(ctx, grant.ID)
	if err != nil {
		panic(err)
	}
	say("keep alive once rev=%d lease=%d ttl %d", once.Revision, once.ID, once.TTL)
	k, cancel := context.WithCancel(ctx)
	alive := <-must(c.KeepAlive(k, grant.ID))
	say("keep alive rev=%d lease=%d ttl %d", alive.Revision, alive.ID, alive.TTL)
	cancel()
	list := must(c.Leases(ctx))
	found := false
	for _, each := range list.Leases {
		found = found || each.ID == grant.ID
	}
	say("listed %v rev=%d", found, list.Revision)
	w := c.Watch(ctx, "l/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	next("watch", w)
	revoked, err := c.Revoke(ctx, grant.ID)
	if err == nil {
		say("revoke rev=%d", revoked.Header.Revision)
	} else {
		say("revoke error %s", text(err))
	}
	next("watch", w)
	_, err = c.Revoke(ctx, grant.ID)
	show("revoke again", "ok", err)
	_, err = c.KeepAliveOnce(ctx, grant.ID)
	show("keep alive of a revoked one", "ok", err)
	ttl, err = c.TimeToLive(ctx, grant.ID)
	if err == nil {
		say("time to live of a revoked one %d %d", ttl.TTL, ttl.GrantedTTL)
	} else {
		say("time to live of a revoked one error %s", text(err))
	}
	_, err = c.Grant(ctx, -1)
	show("grant of a negative time", "ok", err)
	_, err = c.Grant(ctx, 1<<40)
	show("grant of too long a time", "ok", err)
	short := must(c.Grant(ctx, 1))
	must(c.Put(ctx, "l/short", "x", clientv3.WithLease(short.ID)))
	next("put with a short lease", w)
	next("expired", w)
}

func concurrent(c *clientv3.Client) {
	begin("mutex")
	one := must(concurrency.NewSession(c, concurrency.WithTTL(600)))
	two := must(concurrency.NewSession(c, concurrency.WithTTL(600)))
	say("lease=%d lease=%d", one.Lease(), two.Lease())
	mutex, other := concurrency.NewMutex(one, "mutex"), concurrency.NewMutex(two, "mutex")
	show("lock", "ok", mutex.Lock(ctx))
	say("key %s rev=%d", mutex.Key(), mutex.Header().Revision)
	show("try lock", "ok", other.TryLock(ctx))
	acquired := make(chan error)
	go func() { acquired <- other.Lock(ctx) }()
	for must(c.Get(ctx, "mutex/", clientv3.WithPrefix(), clientv3.WithCountOnly())).Count < 2 {
	}
	owner, err := c.Txn(ctx).If(mutex.IsOwner()).Then(clientv3.OpGet("mutex/", clientv3.WithPrefix(), clientv3.WithKeysOnly())).Commit()
	show("owner", owner, err)
	show("unlock", "ok", mutex.Unlock(ctx))
	show("lock of the other", "ok", <-acquired)
	say("key %s", other.Key())
	show("unlock of the other", "ok", other.Unlock(ctx))
	locker := concurrency.NewLocker(one, "locker")
	locker.Lock()
	locker.Unlock()

	begin("election")
	election, rival := concurrency.NewElection(one, "election"), concurrency.NewElection(two, "election")
	g, err := election.Leader(ctx)
	show("no leader", g, err)
	o, cancel := context.WithCancel(ctx)
	observed := rival.Observe(o)
	show("campaign", "ok", election.Campaign(ctx, "first"))
	say("key %s rev=%d", election.Key(), election.Rev())
	say("observed %s", kvs((<-observed).Kvs))
	show("proclaim", "ok", election.Proclaim(ctx, "first again"))
	say("observed %s", kvs((<-observed).Kvs))
	g, err = rival.Leader(ctx)
	show("leader", g, err)
	go func() { acquired <- rival.Campaign(ctx, "second") }()
	for must(c.Get(ctx, "election/", clientv3.WithPrefix(), clientv3.WithCountOnly())).Count < 2 {
	}
	show("resign", "ok", election.Resign(ctx))
	show("campaign of the rival", "ok", <-acquired)
	g, err = election.Leader(ctx)
	show("leader", g, err)
	say("observed %s", kvs((<-observed).Kvs))
	show("proclaim without leadership", "ok", election.Proclaim(ctx, "x"))
	cancel()
	show("close", "ok", two.Close())
	g, err = c.Get(ctx, "election/", clientv3.WithPrefix())
	show("after the session", g, err)
	show("close", "ok", one.Close())

	begin("STM")
	put(c, "stm/a", "100")
	put(c, "stm/b", "200")
	for _, isolation := range []concurrency.Isolation{concurrency.SerializableSnapshot, concurrency.Serializable, concurrency.RepeatableReads, concurrency.ReadCommitted} {
		tries := 0
		r, err := concurrency.NewSTM(c, func(stm concurrency.STM) error {
			tries++
			a, b := stm.Get("stm/a"), stm.Get("stm/b")
			if tries == 1 && isolation != concurrency.ReadCommitted {
				put(c, "stm/a", a+"'")
			}
			stm.Put("stm/a", b)
			stm.Put("stm/b", a)
			stm.Del("stm/c")
			return nil
		}, concurrency.WithIsolation(isolation))
		if err != nil {
			panic(err)
		}
		// Its writes are in the order of a map.
		say("isolation %d tries %d rev=%d succeeded %v", isolation, tries, r.Header.Revision, r.Succeeded)
	}
	r, err := concurrency.NewSTM(c, func(stm concurrency.STM) error { return errors.New("given up") })
	show("aborted", r, err)
	g, err = c.Get(ctx, "stm/", clientv3.WithPrefix())
	show("get", g, err)

	begin("recipes")
	queue := recipe.NewPriorityQueue(c, "queue")
	show("enqueue", "ok", queue.Enqueue("later", 2))
	show("enqueue", "ok", queue.Enqueue("first", 1))
	for i := 0; i < 2; i++ {
		value, err := queue.Dequeue()
		show("dequeue", value, err)
	}
	barrier := recipe.NewBarrier(c, "barrier")
	show("hold", "ok", barrier.Hold())
	waited := make(chan error)
	go func() { waited <- barrier.Wait() }()
	show("release", "ok", barrier.Release())
	show("wait", "ok", <-waited)
}

func wrappers(c *clientv3.Client) {
	begin("ordering")
	ordered := ordering.NewKV(c, ordering.NewOrderViolationSwitchEndpointClosure(c))
	put(c, "o/1", "one")
	g, err := ordered.Get(ctx, "o/1")
	show("get", g, err)
	g, err = ordered.Get(ctx, "o/1", clientv3.WithSerializable())
	show("get serializable", g, err)
	t, err := ordered.Txn(ctx).If(clientv3util.KeyExists("o/1")).Then(clientv3.OpGet("o/1")).Commit()
	show("txn", t, err)

	begin("leasing")
	a, closeA, err := leasing.NewKV(c, "leasing/")
	show("new", "ok", err)
	b, closeB, err := leasing.NewKV(c, "leasing/")
	show("new", "ok", err)
	put(c, "x", "one")
	for i := 0; i < 2; i++ {
		g, err = a.Get(ctx, "x")
		show("get, then from the cache", g, err)
	}
	p, err := b.Put(ctx, "x", "two")
	show("put by another, which revokes the lease", p, err)
	g, err = a.Get(ctx, "x")
	show("get", g, err)
	t, err = a.Txn(ctx).If(clientv3util.KeyExists("x")).Then(clientv3.OpPut("x", "three"), clientv3.OpGet("x")).Commit()
	show("txn", t, err)
	d, err := b.Delete(ctx, "x")
	show("delete", d, err)
	closeA()
	closeB()

	begin("namespace")
	space := namespace.NewKV(c, "space/")
	w := namespace.NewWatcher(c, "space/").Watch(ctx, "a", clientv3.WithCreatedNotify())
	next("watch", w)
	p, err = space.Put(ctx, "a", "one")
	show("put", p, err)
	next("watch", w)
	g, err = space.Get(ctx, "ok", clientv3.WithPrefix())
	show("get", g, err)
	g, err = c.Get(ctx, "space/", clientv3.WithPrefix())
	show("get without", g, err)

	begin("mirror")
	put(c, "mirror/1", "one")
	put(c, "mirror/2", "two")
	syncer := mirror.NewSyncer(c, "mirror/", 0)
	base, failed := syncer.SyncBase(ctx)
	for r := range base {
		show("base", r, nil)
	}
	show("end", "ok", <-failed)
	updates := syncer.SyncUpdates(ctx)
	put(c, "mirror/1", "again")
	next("update", updates)

	begin("naming")
	manager := must(endpoints.NewManager(c, "service"))
	show("add", "ok", manager.AddEndpoint(ctx, "service/1", endpoints.Endpoint{Addr: os.Args[1], Metadata: "meta"}))
	watch := must(manager.NewWatchChannel(ctx))
	say("watch %s", updateText(<-watch))
	show("add", "ok", manager.AddEndpoint(ctx, "service/2", endpoints.Endpoint{Addr: os.Args[1]}))
	say("watch %s", updateText(<-watch))
	show("delete", "ok", manager.DeleteEndpoint(ctx, "service/2"))
	say("watch %s", updateText(<-watch))
	listed := must(manager.List(ctx))
	say("listed %d", len(listed))
	connection := must(grpc.NewClient("etcd:///service", grpc.WithResolvers(must(resolver.NewBuilder(c))), grpc.WithTransportCredentials(insecure.NewCredentials())))
	health, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	show("health through the resolver", health.GetStatus(), err)
	connection.Close()
}

func updateText(updates []*endpoints.Update) string {
	parts := []string{}
	for _, each := range updates {
		parts = append(parts, fmt.Sprintf("%v %s %v", each.Op, each.Key, each.Endpoint.Metadata))
	}
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}

func administration(c *clientv3.Client) {
	begin("cluster")
	members := must(c.MemberList(ctx))
	for _, each := range members.Members {
		say("member %x name %s peers %d clients %d learner %v", each.ID, each.Name, len(each.PeerURLs), len(each.ClientURLs), each.IsLearner)
	}
	_, err := c.MemberUpdate(ctx, 12345, []string{"http://127.0.0.1:1"})
	show("update of an unknown member", "ok", err)
	_, err = c.MemberRemove(ctx, 12345)
	show("removal of an unknown member", "ok", err)
	_, err = c.MemberPromote(ctx, 12345)
	show("promotion of an unknown member", "ok", err)
	_, err = c.MemberAdd(ctx, []string{"x"})
	show("wrong peer URL", "ok", err)

	begin("maintenance")
	s := must(c.Status(ctx, os.Args[1]))
	say("version %s storage %s rev=%d errors %v", strings.TrimSuffix(s.Version, "+understudy"), s.StorageVersion, s.Header.Revision, s.Errors)
	alarms := must(c.AlarmList(ctx))
	say("alarms %v", alarms.Alarms)
	_, err = c.MoveLeader(ctx, 12345)
	show("move leader", "ok", err)
	_, err = c.Downgrade(ctx, clientv3.DowngradeAction(clientv3.DowngradeValidate), "3.1.0")
	show("downgrade", "ok", err)
	snapshot, err := c.SnapshotWithVersion(ctx)
	if err != nil {
		panic(err)
	}
	size, err := io.Copy(io.Discard, snapshot.Snapshot)
	say("snapshot version %s complete %v %v", snapshot.Version, size > 10000, err)

	begin("users and roles")
	_, err = c.RoleAdd(ctx, "reader")
	show("role", "ok", err)
	_, err = c.RoleAdd(ctx, "reader")
	show("role again", "ok", err)
	_, err = c.RoleGrantPermission(ctx, "reader", "k/", clientv3.GetPrefixRangeEnd("k/"), clientv3.PermissionType(clientv3.PermRead))
	show("grant permission", "ok", err)
	role, err := c.RoleGet(ctx, "reader")
	if err == nil {
		say("role %v", role.Perm)
	}
	_, err = c.UserAdd(ctx, "user", "password")
	show("user", "ok", err)
	_, err = c.UserGrantRole(ctx, "user", "reader")
	show("grant role", "ok", err)
	user, err := c.UserGet(ctx, "user")
	if err == nil {
		say("user %v", user.Roles)
	}
	users, roles := must(c.UserList(ctx)), must(c.RoleList(ctx))
	say("users %v roles %v", users.Users, roles.Roles)
	_, err = c.Authenticate(ctx, "user", "password")
	show("authenticate without authentication", "ok", err)
	_, err = c.AuthEnable(ctx)
	show("enable without root", "ok", err)
	state := must(c.AuthStatus(ctx))
	say("enabled %v", state.Enabled)
	_, err = c.UserDelete(ctx, "user")
	show("delete user", "ok", err)
	_, err = c.RoleDelete(ctx, "reader")
	show("delete role", "ok", err)
}

func main() {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == "go.etcd.io/etcd/client/v3" {
			fmt.Printf("client: Go clientv3 %s\n", each.Version[1:])
		}
	}
	c := client()
	keyValues(c)
	transactions(c)
	watches(c)
	leases(c)
	concurrent(c)
	wrappers(c)
	administration(c)
	show("close", "ok", c.Close())
}
